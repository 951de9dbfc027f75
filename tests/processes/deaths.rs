//! Runners that die or are killed.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::{Options, Run, Server, Site, Team, Tool, count_record_events, eventually, input, runners};

/// Deadline of runs that end after a second.
const DEADLINE: Duration = Duration::from_secs(10);
/// Time after a run's deadline until the server declares the run overdue, and a second more.
const WATCHED_BEYOND: Duration = Duration::from_secs(3);
/// Least time for which a run is held before its runner is killed.
const HELD_MIN: Duration = Duration::from_millis(100);

fn server_with(runners: usize) -> Arc<Server> {
    let mut options = Options::reaching_loopback();
    options.arguments.extend(["--runners".to_owned(), runners.to_string()]);
    Server::private(&options)
}

/// Starts runs with one input, and calls `meanwhile` before they are answered.
fn runs(tool: &Tool<'_>, count: usize, parameters: &Value, meanwhile: impl FnOnce()) -> Vec<Run> {
    let body = json!({"inputs": vec![input(parameters); count]});
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| tool.invoke_inputs(&body));
        meanwhile();
        runs.join().expect("answers")
    })
}

fn is_crashed(run: &Run) -> bool {
    run.0["exception_type"] == "runner_crashed"
}

/// Checks that the records match the answers.
fn recorded(team: &Team, runs: &[Run]) {
    for run in runs {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        assert_eq!(record["invocation_status"]["exception_type"], run.0["exception_type"], "{record}");
    }
}

#[test]
fn a_killed_runner_loses_its_own_runs_and_is_replaced() {
    let (site, server) = (Site::serve(), server_with(2));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    // Both runners have the code now.
    assert_eq!(runs(&tool, 2, &json!({}), || ()).len(), 2);
    let before = runners(&server, 2);
    let (began, mut took) = (Instant::now(), Duration::ZERO);
    let ended = runs(&tool, 4, &site.hold(), || {
        site.held.is_reached_by(4);
        std::thread::sleep(HELD_MIN);
        let killed = Instant::now();
        before[0].signal(Signal::SIGKILL);
        before[0].ended();
        assert!(runners(&server, 2).contains(&before[1]));
        took = killed.elapsed();
        site.held.open();
    });
    let all = began.elapsed();
    assert_eq!(ended.iter().filter(|run| is_crashed(run)).count(), 2, "{ended:?}");
    for run in &ended {
        let duration = Duration::from_millis(run.duration_ms());
        match is_crashed(run) {
            true => assert!(duration >= HELD_MIN && duration <= all, "{run}"),
            false => assert_eq!(run.output(), "rested"),
        }
    }
    recorded(&team, &ended);
    // The replacement works.
    assert!(runs(&tool, 4, &json!({}), || ()).iter().all(|run| run.output() == "rested"));
    let line = server.log_about("a runner was replaced");
    println!("the new process was visible after {} ms; the server logged:\n{line}", took.as_millis());
    assert!(line.contains("milliseconds="), "{line}");
    assert!(server.log_about("a runner died").contains("signal: 9"), "{}", server.log_about("runner"));
}

#[test]
fn an_aborted_runner_is_replaced_even_if_it_is_the_only_one() {
    let (site, server) = (Site::serve(), server_with(1));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    for (signal, reached) in [(Signal::SIGABRT, 2), (Signal::SIGKILL, 4)] {
        let ended = runs(&tool, 2, &site.hold(), || {
            site.held.is_reached_by(reached);
            runners(&server, 1)[0].signal(signal);
        });
        assert!(ended.iter().all(is_crashed), "{ended:?}");
        recorded(&team, &ended);
        assert_eq!(tool.invoke(json!({})).output(), "rested");
        eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
    }
}

/// Terminals and service managers send these signals to all processes of a server.
#[test]
fn runners_ignore_stop_signals() {
    let (site, server) = (Site::serve(), server_with(1));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    let ended = runs(&tool, 1, &site.hold(), || {
        site.held.is_reached_by(1);
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            runners(&server, 1)[0].signal(signal);
        }
        server.signal(Signal::SIGTERM);
        site.held.open();
    });
    assert_eq!(ended[0].output(), "rested");
    assert_eq!(server.ended().code(), Some(0));
}

/// A stopped process behaves like one in which nothing interrupts the guest. It is stopped before it receives the second run, so
/// that the run cannot end first.
#[test]
fn a_runner_that_does_not_end_its_runs_is_killed() {
    let (site, server) = (Site::serve(), server_with(1));
    let team = Team::on(&server);
    let long = team.tool("long").held_by(&site).published();
    let short = team.tool("short").manifest("timeout_seconds = 1").published();
    let mut stuck = Vec::new();
    let sibling = runs(&long, 1, &site.hold(), || {
        site.held.is_reached_by(1);
        runners(&server, 1)[0].signal(Signal::SIGSTOP);
        stuck = runs(&short, 1, &json!({}), || ());
    });
    let failure = stuck[0].failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("timeout_wall", "the tool ran longer than 1 s"));
    assert!(stuck[0].duration_ms() >= 1_000, "{}", stuck[0]);
    assert!(is_crashed(&sibling[0]), "{sibling:?}");
    recorded(&team, &stuck);
    recorded(&team, &sibling);
    assert_eq!(long.invoke(json!({})).output(), "rested");
    assert!(!server.log_about("a run did not end in time").is_empty());
}

/// The runner is not stopped, and ends its runs long before their deadline; only the server is late.
#[test]
fn a_server_that_was_stopped_handles_pending_messages_first() {
    let server = server_with(1);
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body("import time\ntime.sleep(1)\nreturn 'rested'");
    let tool = tool.manifest(&format!("timeout_seconds = {}", DEADLINE.as_secs())).published();
    let ended = runs(&tool, 4, &json!({}), || {
        eventually("the start of the runs", || (count_record_events(&team, tool.id()).0 == 4).then_some(()));
        server.signal(Signal::SIGSTOP);
        std::thread::sleep(DEADLINE + WATCHED_BEYOND);
        server.signal(Signal::SIGCONT);
    });
    assert!(ended.iter().all(|run| run.output() == "rested"), "{ended:?}");
}

#[test]
fn no_runner_outlives_its_server() {
    let server = server_with(2);
    let team = Team::on(&server);
    team.tool("sleeper").published();
    let alive = runners(&server, 2);
    let id = Pid::from_raw(i32::try_from(server.process_id()).expect("a process id"));
    kill(id, Signal::SIGKILL).expect("the server is there");
    server.ended();
    for runner in alive {
        runner.ended();
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
fn a_lost_run_is_recorded_as_crashed() {
    let (site, server) = (Site::serve(), server_with(1));
    let team = Team::on(&server);
    let body = "print('before')\nawait send_status_event('going')\nimport urllib.request\n\
        urllib.request.urlopen(tool_input['held'])";
    let tool = team.tool("sleeper").held_by(&site).body(body).published();
    let ended = runs(&tool, 1, &site.hold(), || {
        site.held.is_reached_by(1);
        runners(&server, 1)[0].signal(Signal::SIGKILL);
    });
    let record: Value = team.get(&format!("/tool/invocation/{}", ended[0].id()));
    assert_eq!(record["invocation_status"]["exception_type"], "runner_crashed", "{record}");
    assert_eq!(record["status_events"][0]["message"], "going", "{record:#}");
    let found = team.request("GET", "/tool/invocation").send().expect(200);
    assert_eq!(found["tool_invocations"].as_array().map(Vec::len), Some(1));
}
