//! Runners that die, or have to.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::{Options, Run, Server, Team, Tool, eventually, input, runners, runs_going_on};

const SLEEPS: &str = "import time\ntime.sleep(tool_input['seconds'])\nreturn 'rested'";
/// Of every replacement, on a machine that may be busy; alone it takes some ten milliseconds.
const REPLACED_WITHIN: Duration = Duration::from_secs(5);

fn server_with(runners: usize) -> Arc<Server> {
    let arguments = vec!["--runners".to_owned(), runners.to_string()];
    Server::private(&Options { arguments, ..Options::default() })
}

/// Runs for each number of seconds, begun while `meanwhile` looks on.
fn sleep(tool: &Tool<'_>, seconds: &[u32], meanwhile: impl FnOnce()) -> Vec<Run> {
    let inputs: Vec<_> = seconds.iter().map(|seconds| input(&json!({"seconds": seconds}))).collect();
    let body = json!({"inputs": inputs});
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| tool.invoke_inputs(&body));
        meanwhile();
        runs.join().expect("answers")
    })
}

fn begun(server: &Server, count: i64) {
    eventually("the start of the runs", || (runs_going_on(server.data()) == count).then_some(()));
    // Their records begin before they do.
    std::thread::sleep(Duration::from_millis(300));
}

fn is_crashed(run: &Run) -> bool {
    run.0["exception_type"] == "runner_crashed"
}

/// The record says what the answer said.
fn recorded(team: &Team, runs: &[Run]) {
    for run in runs {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        assert_eq!(record["invocation_status"]["exception_type"], run.0["exception_type"], "{record}");
    }
}

#[test]
fn a_killed_runner_takes_its_own_runs_with_it_and_is_replaced() {
    let server = server_with(2);
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body(SLEEPS).published();
    // Both runners have the code now.
    sleep(&tool, &[0, 0], || ());
    let before = runners(&server, 2);
    let mut took = Duration::ZERO;
    let runs = sleep(&tool, &[3, 3, 3, 3], || {
        begun(&server, 4);
        let killed = Instant::now();
        before[0].signal(Signal::SIGKILL);
        assert!(before[0].is_gone_within(REPLACED_WITHIN));
        assert!(runners(&server, 2).contains(&before[1]));
        took = killed.elapsed();
    });
    assert_eq!(runs.iter().filter(|run| is_crashed(run)).count(), 2, "{runs:?}");
    for run in &runs {
        match is_crashed(run) {
            true => assert!((300..3_000).contains(&run.duration_ms()), "{run}"),
            false => assert_eq!(run.output(), "rested"),
        }
    }
    recorded(&team, &runs);
    // The new one works, too.
    assert!(sleep(&tool, &[0; 4], || ()).iter().all(|run| run.output() == "rested"));
    let said = server.log_about("a runner was replaced");
    println!("seen from outside the new process was there after {} ms; the server says:\n{said}", took.as_millis());
    assert!(took < REPLACED_WITHIN && said.contains("milliseconds="), "{said}");
    assert!(server.log_about("a runner died").contains("signal: 9"), "{}", server.log_about("runner"));
}

#[test]
fn an_aborted_runner_is_replaced_even_if_it_is_the_only_one() {
    let server = server_with(1);
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body(SLEEPS).published();
    for signal in [Signal::SIGABRT, Signal::SIGKILL] {
        let runs = sleep(&tool, &[20, 20], || {
            begun(&server, 2);
            runners(&server, 1)[0].signal(signal);
        });
        assert!(runs.iter().all(is_crashed), "{runs:?}");
        recorded(&team, &runs);
        assert_eq!(tool.invoke(json!({"seconds": 0})).output(), "rested");
        eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
    }
}

/// What a terminal or a service manager sends to all processes of a server.
#[test]
fn a_runner_is_stopped_by_its_server_alone() {
    let server = server_with(1);
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body(SLEEPS).published();
    let runs = sleep(&tool, &[3], || {
        begun(&server, 1);
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            runners(&server, 1)[0].signal(signal);
        }
        server.signal(Signal::SIGTERM);
    });
    assert_eq!(runs[0].output(), "rested");
    assert_eq!(server.ended_within(Duration::from_secs(10)).and_then(|status| status.code()), Some(0));
}

/// A stopped process is like one in which nothing interrupts the guest.
#[test]
fn a_runner_that_does_not_end_its_runs_is_killed() {
    let server = server_with(1);
    let team = Team::on(&server);
    let long = team.tool("long").body(SLEEPS).published();
    let short = team.tool("short").body(SLEEPS).manifest("timeout_seconds = 1").published();
    let (mut stuck, mut sibling) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let sleeping = scope.spawn(|| sleep(&long, &[25], || ()));
        begun(&server, 1);
        stuck = sleep(&short, &[25], || {
            begun(&server, 2);
            runners(&server, 1)[0].signal(Signal::SIGSTOP);
        });
        sibling = sleeping.join().expect("an answer");
    });
    let failure = stuck[0].failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("timeout_wall", "the tool ran longer than 1 s"));
    assert!((1_000..20_000).contains(&stuck[0].duration_ms()), "{}", stuck[0]);
    assert!(is_crashed(&sibling[0]), "{sibling:?}");
    recorded(&team, &stuck);
    recorded(&team, &sibling);
    assert_eq!(long.invoke(json!({"seconds": 0})).output(), "rested");
    assert!(!server.log_about("a run did not end in time").is_empty());
}

/// It was not the run that was late.
#[test]
fn a_server_that_was_stopped_itself_hears_what_was_said() {
    let server = server_with(1);
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body(SLEEPS).manifest("timeout_seconds = 2").published();
    let runs = sleep(&tool, &[1; 4], || {
        begun(&server, 4);
        server.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_secs(6));
        server.signal(Signal::SIGCONT);
    });
    assert!(runs.iter().all(|run| run.output() == "rested"), "{runs:?}");
}

#[test]
fn no_runner_outlives_its_server() {
    let server = server_with(2);
    let team = Team::on(&server);
    team.tool("sleeper").body(SLEEPS).published();
    let alive = runners(&server, 2);
    let id = Pid::from_raw(i32::try_from(server.process_id()).expect("a process id"));
    kill(id, Signal::SIGKILL).expect("the server is there");
    assert!(server.ended_within(Duration::from_secs(10)).is_some());
    for runner in alive {
        assert!(runner.is_gone_within(Duration::from_secs(10)), "{}", runner.status());
    }
}

#[test]
fn deaths_are_counted() {
    let arguments = ["--runners", "2", "--metrics-listen", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("url=")).expect("a URL").1.to_owned();
    let metric = |name: &str| {
        let text = crate::harness::fetch(url.trim_matches('"'));
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        found.unwrap_or_default()
    };
    let died = "lathe_runners_crashed_total{reason=\"died\"}";
    let before = runners(&server, 2);
    eventually("two runners", || (metric("lathe_runners") == 2.0).then_some(()));
    assert_eq!(metric(died), 0.0);
    before.iter().for_each(|runner| runner.signal(Signal::SIGKILL));
    eventually("their replacements", || (metric("lathe_runners") == 2.0 && metric(died) == 2.0).then_some(()));
    assert!(runners(&server, 2).iter().all(|runner| !before.contains(runner)));
}

#[test]
fn a_run_that_was_lost_says_so_in_the_history() {
    let server = server_with(1);
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body(&format!("print('before')\nawait send_status_event('going')\n{SLEEPS}"));
    let tool = tool.published();
    let runs = sleep(&tool, &[20], || {
        begun(&server, 1);
        runners(&server, 1)[0].signal(Signal::SIGKILL);
    });
    let record: Value = team.get(&format!("/tool/invocation/{}", runs[0].id()));
    assert_eq!(record["invocation_status"]["exception_type"], "runner_crashed", "{record}");
    assert_eq!(record["status_events"][0]["message"], "going", "{record:#}");
    let found = team.request("GET", "/tool/invocation").send().expect(200);
    assert_eq!(found["tool_invocations"].as_array().map(Vec::len), Some(1));
}
