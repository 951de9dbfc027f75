//! Costly schemas and inputs: refused by their estimated cost, or matched in a process that is killed at its deadline.
//!
//! During each attack, a neighbour of another organisation calls a tool whose inputs are matched in such a process as well. All
//! of its calls succeed.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{
    Answer, Bump, Options, Server, Team, Tool, change_database, eventually, fetch, input, schema_processes,
};

/// Calls of the neighbour beside an attack.
const CALLS: usize = 8;
/// Concurrent calls of the attacker: more than there are processes.
const ATTACKS: usize = 4;

fn with_schema<'t>(team: &'t Team, name: &str, schema: &Value) -> Tool<'t> {
    let tool = team.tool(name).manifest("input_schema = 'in.json'").with_file("in.json", &schema.to_string());
    tool.body("return len(tool_input['v'])")
}

/// Schema of a list whose items match `items`.
fn list_of(items: &Value) -> Value {
    json!({"type": "object", "required": ["v"], "properties": {"v": {"type": "array", "items": items}}})
}

/// A tool whose inputs are matched in a separate process.
struct Neighbour<'t>(Tool<'t>);

impl<'t> Neighbour<'t> {
    fn of(team: &'t Team) -> Self {
        Self(with_schema(team, "neighbour", &list_of(&json!({"type": "integer"}))).published())
    }

    fn calls(&self) {
        let numbers: Vec<usize> = (0..20_000).collect();
        for _ in 0..CALLS {
            assert_eq!(self.0.invoke(json!({"v": numbers})).output(), "20000");
        }
    }
}

/// Returns the answers to the attacker's calls, during which all of the neighbour's succeed.
fn attack(schema: &Value, inputs: &[Value]) -> Vec<Answer> {
    let server = Server::private(&Options::default());
    let (attacker, team) = (Team::on(&server), Team::on(&server));
    let (tool, neighbour) = (with_schema(&attacker, "attack", schema).published(), Neighbour::of(&team));
    let body = json!({"inputs": inputs.iter().map(input).collect::<Vec<_>>()});
    std::thread::scope(|scope| {
        let attacks: Vec<_> = (0..ATTACKS).map(|_| scope.spawn(|| tool.invoke_request(&body).send())).collect();
        neighbour.calls();
        attacks.into_iter().map(|attack| attack.join().expect("an answer")).collect()
    })
}

#[test]
fn divisions_of_large_numbers_by_fractions_are_priced() {
    // As fractions they have a thousand bits, and no factor in common. The matcher reaches the last branch after all others.
    let schema = |divisors: u32| {
        let divisors = (0..divisors).map(|number| json!({"multipleOf": 1.234_567_890_123_456_7 + f64::from(number)}));
        list_of(&json!({"anyOf": divisors.chain([json!({"type": "number"})]).collect::<Vec<_>>()}))
    };
    let large = [json!({"v": vec![1.797_693_134_862_315_7e308; 3_000]})];
    // A tenth of the deadline, in a build without optimisation.
    for answer in attack(&schema(30), &large) {
        assert_eq!(answer.expect(200)["invocation_results"][0]["output"], "3000");
    }
    for answer in attack(&schema(2_000), &large) {
        answer.expect(400);
        assert!(answer.detail().contains("the inputs of a call may cost"), "{answer}");
    }
}

#[test]
fn nested_empty_lists_are_compared_without_comparing_every_pair() {
    // Each number as a list of lists, so that two lists differ only at their ends.
    let shape = |number: usize| {
        (0..13).fold(json!([]), |inner, bit| if number >> bit & 1 == 1 { json!([inner, []]) } else { json!([inner]) })
    };
    let item = |number: usize| json!([&vec![json!(0); 30][..], &[shape(number)]].concat());
    let schema = json!({"type": "object", "properties": {"v": {"allOf": vec![json!({"uniqueItems": true}); 3]}}});
    for answer in attack(&schema, &[json!({"v": (0..7_500).map(item).collect::<Vec<_>>()})]) {
        assert_eq!(answer.expect(200)["invocation_results"][0]["output"], "7500");
    }
}

#[test]
fn the_inputs_of_a_call_share_one_bound() {
    let branches: Vec<Value> = (0..2_000).map(|number| json!({"const": number})).collect();
    let schema = list_of(&json!({"anyOf": branches}));
    // A little more than a tenth of the bound.
    let most = json!({"v": vec![0; 5_500]});
    for answer in attack(&schema, std::slice::from_ref(&most)) {
        assert_eq!(answer.expect(200)["invocation_results"][0]["output"], "5500");
    }
    for answer in attack(&schema, &vec![most; 10]) {
        answer.expect(400);
        let told = answer.detail();
        assert!(told.contains("the inputs of a call may cost") && told.contains("together"), "{told}");
        assert!(told.contains("simplify /properties/v/items/anyOf"), "{told}");
    }
}

#[test]
fn a_process_that_does_not_end_is_killed_and_others_continue() {
    let arguments = ["--metrics-listen", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let (attacker, team) = (Team::on(&server), Team::on(&server));
    let tool = with_schema(&attacker, "attack", &list_of(&json!({"type": "integer"}))).published();
    let neighbour = Neighbour::of(&team);
    let numbers = json!({"v": vec![1; 20_000]});
    assert_eq!(tool.invoke(numbers.clone()).output(), "20000");
    let [worker] = schema_processes(&server)[..] else { panic!("one process is kept") };
    worker.signal(Signal::SIGSTOP);
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| tool.invoke_request(&json!({"inputs": [input(&numbers)]})).send());
        // The stopped process has the attacker's call, and none of the neighbour's.
        eventually("the attacker's place", || is_matching(&server).then_some(()));
        neighbour.calls();
        call.join().expect("an answer")
    });
    answer.expect(400);
    assert!(answer.detail().contains("could not be matched against the tool's schema within 5 s"), "{answer}");
    assert!(!schema_processes(&server).contains(&worker), "the process is gone");
    assert_eq!(tool.invoke(numbers).output(), "20000");
}

#[test]
fn schema_workers_are_confined() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    Neighbour::of(&team).calls();
    let [worker] = schema_processes(&server)[..] else { panic!("one process is kept") };
    let (status, limits) = (worker.status(), std::fs::read_to_string(worker.file("limits")).expect("a process"));
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Threads:\t1"] {
        assert!(status.lines().any(|had| had == line), "{line} is missing in: {status}");
    }
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).expect("a limit");
        line[name.len()..].split_whitespace().next().map(str::to_owned)
    };
    assert_eq!(limit("Max cpu time").as_deref(), Some("600"));
    assert_eq!(limit("Max data size").as_deref(), Some("1073741824"));
    assert_eq!(limit("Max core file size").as_deref(), Some("0"));
}

#[test]
fn a_worker_that_is_killed_between_calls_is_replaced() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let neighbour = Neighbour::of(&team);
    neighbour.calls();
    let found = schema_processes(&server);
    found.iter().for_each(|worker| worker.signal(Signal::SIGKILL));
    neighbour.calls();
    assert!(schema_processes(&server).iter().all(|worker| !found.contains(worker)));
}

#[test]
fn a_schema_that_costs_too_much_is_refused_with_its_file_and_place() {
    let team = Team::new();
    let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"not": inner}));
    for (name, schema, words) in [
        ("letters", list_of(&json!({"pattern": r"\p{L}".repeat(600)})), "/properties/v/items/pattern: "),
        ("copies", list_of(&json!({"pattern": "(a{1000}){1000}"})), "/properties/v/items/pattern: "),
        ("deep", list_of(&nested(110)), "nested more than 100 levels deep"),
        (
            "wide",
            list_of(&json!({"enum": vec![json!([1, [2]]); 4_000]})),
            "/properties/v/items/enum: the schema has more",
        ),
        ("reach", list_of(&json!({"unevaluatedItems": false})), "/properties/v/items/unevaluatedItems: "),
        (
            "inner",
            list_of(&json!({"$schema": "http://json-schema.org/draft-04/schema#"})),
            "$schema differs from the $schema of the document",
        ),
    ] {
        let told = with_schema(&team, name, &schema).pushed().publish(Bump::Minor).detail();
        assert!(told.contains("manifest failed (input-schema): in.json: ") && told.contains(words), "{name}: {told}");
    }
}

/// A manual change may leave a row that the server would refuse.
#[test]
fn a_stored_schema_that_costs_too_much_is_refused_when_its_version_is_called() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let id = with_schema(&team, "stored", &list_of(&json!({}))).published().id().to_owned();
    let wide = list_of(&json!({"enum": vec![json!([1, [2]]); 4_000]})).to_string();
    let change = format!("UPDATE versions SET input_schema = '{wide}'");
    server.kill();
    change_database(server.data(), &["DROP TRIGGER versions_never_rewritten", &change]);
    let team = team.moved_to(server.restarted(|_| ()));
    let tool = team.tool("stored").with_id(&id);
    for _ in 0..2 {
        let answer = tool.invoke_request(&json!({"inputs": [input(&json!({"v": []}))]})).send();
        answer.expect(400);
        let words =
            "the schema of this version is refused: /properties/v/items/enum: the schema has more than 10000 parts";
        assert!(answer.detail().contains(words), "{answer}");
    }
    Neighbour::of(&team).calls();
}

fn is_matching(server: &Server) -> bool {
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("url=")).expect("a URL").1;
    fetch(url.trim_matches('"')).contains("lathe_work_running{work=\"schemas\"} 1")
}
