//! Tools in Rust, from the project to the record of a run.

use std::sync::Arc;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::machine;
use super::project::Project;
use crate::harness::{Attested, Bump, Lathe, Options, Said, Server, Site, Team, eventually, local_cache};

/// A publication with fetched crates, a second build, and another server that has to compile the component again.
#[test]
fn a_new_project_goes_from_source_to_history() {
    let options = Options { has_own_cache: true, ..Options::default() };
    let Some(server) = machine::server_with(options) else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).published();
    let run = tool.invoke(&json!({"name": "Ada", "times": 2}));
    assert_eq!(run.output(), r#"{"greetings":["Hello, Ada!","Hello, Ada!"],"delivered":true}"#);
    is_described(&tool.version("1.0.0"));
    is_made_of_crates(&team.get(&format!("/tool/{}/version/1.0.0/sbom", tool.id())));
    Attested::of(&team, &tool.name, "1.0.0").others_verify();
    let tool = changes_compile_no_dependencies(tool);
    // Another scratch directory, and dependencies and a component that are compiled again.
    let compiled = || team.server.log_about("a component is compiled").lines().count();
    let compiled_before = compiled();
    let again = team.post(&format!("/tool/{}/version/1.0.1/verify", tool.id()), &json!({})).expect(200);
    assert_eq!((&again["identical"], &again["signed"]), (&json!(true), &json!(true)), "{again}");
    eventually("the compilation of the component", || (compiled() > compiled_before).then_some(()));
    let failure = tool.invoke(&json!({"name": "Ada", "times": 0})).failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("OutOfRange", "times must be at least 1, not 0"));
    assert!(failure.trace[0].starts_with("src/lib.rs:"), "{failure:?}");
    tool.refuses(&json!({"times": 1}));
    tool.refuses(&json!({"name": "Ada", "other": 1}));
    assert_eq!(team.history().len(), 3);
    let events = &team.get(&format!("/tool/invocation/{}", run.id()))["status_events"];
    assert_eq!(events[0]["message"], "greeting Ada", "{events}");
    let id = tool.id().to_owned();
    drop(tool);
    let team = restarted_without_code(team, server);
    let tool = Project::existing(&team, &id);
    assert_eq!(tool.invoke(&json!({"name": "Bob"})).output(), r#"{"greetings":["Good day, Bob!"],"delivered":true}"#);
}

/// The same build and the same runs, without a server.
#[test]
fn a_new_project_passes_its_checks_here() {
    let Some(toolchain) = machine::toolchain() else { return };
    let home = tempfile::TempDir::new().expect("a directory");
    let lathe = Lathe { home: home.path(), directory: home.path() };
    lathe.ok(&["tool", "new", "rusty", "--language", "rust"]);
    let mut command = lathe.command(&["tool", "test", "tools/rusty", "--rust-toolchain"]);
    command.arg(toolchain).args(["--crate-index", &machine::crate_index()]).env("XDG_CACHE_HOME", local_cache());
    let said = Said::from(command.output().expect("the program ends")).ok();
    assert!(said.stdout.contains("ok      greets") && said.stdout.contains("3 checks passed"), "{said:?}");
}

fn is_described(version: &Value) {
    let schema = &version["input_schema"];
    assert_eq!(schema["properties"]["name"]["description"], "The name of the person");
    assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["name"]), &json!(false)));
    assert_eq!(version["settings"]["language"], "rust");
    assert_eq!((&version["image_digest"], &version["bundle_digest"]), (&version["component_digest"], &json!(null)));
    let log = version["build_log"].as_str().expect("a log");
    for words in ["rustc 1.", ", sha256:", "fetching ", "Compiling lathe", "inspect: done"] {
        assert!(log.contains(words), "{words:?} is not in {log}");
    }
}

fn changes_compile_no_dependencies(tool: Project<'_>) -> Project<'_> {
    let compiled = |tool: &Project<'_>, version: &str| {
        let log = tool.version(version)["build_log"].as_str().expect("a log").to_owned();
        ["Compiling serde ", "Compiling lathe "].map(|line| log.contains(line))
    };
    let text = tool.file("src/lib.rs").replace("\"Hello, ", "\"Good day, ");
    assert_eq!(compiled(&tool, "1.0.0"), [true, true]);
    let tool = tool.with("src/lib.rs", &text);
    assert_eq!(tool.publish(Bump::Patch).expect(201)["new_version"], "1.0.1");
    assert_eq!(compiled(&tool, "1.0.1"), [false, true]);
    let run = tool.invoke(&json!({"name": "Ada"}));
    assert_eq!(run.output(), r#"{"greetings":["Good day, Ada!"],"delivered":true}"#);
    tool
}

fn is_made_of_crates(sbom: &Value) {
    let text = sbom.to_string();
    for name in ["pkg:cargo/serde@1.0.", "pkg:cargo/schemars@1.", "pkg:generic/rust@1."] {
        assert!(text.contains(name), "{name} is not in {sbom:#}");
    }
}

fn restarted_without_code(team: Team, server: Arc<Server>) -> Team {
    server.signal(Signal::SIGTERM);
    assert!(server.ended().success());
    for (file, _) in server.compiled() {
        std::fs::remove_file(file).expect("compiled code");
    }
    let again = server.restarted(|_| {});
    team.moved_to(again)
}

/// A tool that uses all of the host's functions, and can end in every way.
const DOES: &str = r#"
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Input {
    Context,
    Ask { urls: Vec<String> },
    Wait { slow: String, quick: String },
    Post { url: String },
    Parse { number: String },
    Panic { place: usize },
    Spin,
    Fill,
    Nothing,
    Print { text: String },
}

fn run_tool(input: Input, context: &Context) -> Result<serde_json::Value, Error> {
    use serde_json::json;
    Ok(match input {
        Input::Context => json!({
            "region": &context.config.envvars["REGION"], "key": &context.config.secrets["KEY"],
            "tool": &context.metadata.tool_name, "simulation": context.metadata.is_simulation(),
            "conversation": context.conversation.is_some(), "color": context.user_variables.nonsensitive.get("color"),
            "shown": format!("{:?}", context.config),
        }),
        Input::Ask { urls } => {
            let answers = lathe::http::send_all(urls.into_iter().map(lathe::http::get));
            let told = answers.into_iter().map(|answer| match answer {
                Ok(answer) => json!(answer.status),
                Err(error) => json!(format!("{:?}", error.code)),
            });
            told.collect()
        }
        Input::Wait { slow, quick } => {
            let (slow, quick) = (lathe::http::get(slow).start(), lathe::http::get(quick).start());
            let first = lathe::http::wait(&[&slow, &quick], None);
            json!({"first": first, "status": quick.finish()?.status})
        }
        Input::Post { url } => {
            let asked = lathe::http::post(url).header("x-one", "1").json(&json!({"a": 1}));
            let answer = asked.timeout(std::time::Duration::from_secs(20)).send()?;
            json!({"ok": answer.is_ok(), "type": answer.header("Content-Type"), "body": answer.text()})
        }
        Input::Parse { number } => json!(number.parse::<u8>()?),
        Input::Panic { place } => json!([1, 2, 3][place]),
        Input::Spin => loop {},
        Input::Fill => json!(std::hint::black_box(vec![1_u8; 1 << 30]).len()),
        Input::Nothing => json!(null),
        Input::Print { text } => {
            println!("{text}");
            json!(std::env::vars().count())
        }
    })
}
"#;

const SCHEMA: &str = r#"{"properties":{"what":{"type":"string"}},"required":["what"],"type":"object"}"#;

#[test]
fn a_tool_uses_its_host() {
    let site = Site::serve();
    let arguments = ["--egress-networks", "127.0.0.0/8,::1/128"].map(str::to_owned).into();
    let Some(server) = machine::server_with(Options { arguments, ..Options::default() }) else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).source(DOES).lathe(&format!(
        "input_schema = \"schema.json\"\nallowed_hosts = [\"{}\"]\nrequired_envvars = [\"REGION\"]\nrequired_secret_envvars = [\"KEY\"]\n\
         limits = {{ cpu_seconds = 0.5 }}\n",
        site.address
    ));
    let tool = tool.changed("Cargo.toml", "serde = {", "serde_json = \"1.0\"\nserde = {");
    let tool = tool.changed("Cargo.lock", " \"serde\",\n]\n", " \"serde\",\n \"serde_json\",\n]\n");
    tool.set_variables(&[("REGION", "north", false), ("KEY", "hush-hush-hush", true)]);
    let tool = tool.with("schema.json", SCHEMA).published();
    assert_eq!(tool.version("1.0.0")["input_schema"].to_string(), SCHEMA, "the file wins over the type");
    it_is_told_what_it_may_know(&tool);
    it_asks(&tool, &site);
    it_is_replayed(&team, &tool, &site);
    it_ends(&tool);
}

fn it_is_told_what_it_may_know(tool: &Project<'_>) {
    let told = tool.invoke(&json!({"what": "context"})).json();
    assert_eq!((&told["region"], &told["tool"]), (&json!("north"), &json!(tool.name)));
    assert_eq!(
        (&told["conversation"], &told["simulation"], &told["color"]),
        (&json!(false), &json!(false), &json!(null))
    );
    let shown = told["shown"].as_str().expect("text");
    assert!(shown.contains("REGION") && !shown.contains("north") && !shown.contains("hush"), "{shown}");
    assert_eq!(tool.invoke(&json!({"what": "print", "text": "some words"})).json(), 0, "no variable of a process");
}

fn it_asks(tool: &Project<'_>, site: &Site) {
    let urls = [site.url("/status/200"), site.url("/status/503"), "https://example.com".to_owned()];
    assert_eq!(tool.invoke(&json!({"what": "ask", "urls": urls})).json(), json!([200, 503, "ErrorCode::Denied"]));
    let (slow, quick) = (site.url("/silent"), site.url("/status/204"));
    let waited = tool.invoke(&json!({"what": "wait", "slow": slow, "quick": quick}));
    assert_eq!(waited.json(), json!({"first": [1], "status": 204}));
    let posted = tool.invoke(&json!({"what": "post", "url": site.url("/echo")})).json();
    assert!(posted["ok"] == true && posted["type"] == "application/json", "{posted}");
    let failure = tool.invoke(&json!({"what": "post", "url": "https://example.com"})).failure();
    assert_eq!(failure.kind, "HttpError", "{failure:?}");
}

fn it_is_replayed(team: &Team, tool: &Project<'_>, site: &Site) {
    let run = tool.invoke(&json!({"what": "post", "url": site.url("/echo")}));
    let replayed = team.post(&format!("/tool/invocation/{}/replay", run.id()), &json!({})).expect(200);
    assert_eq!(replayed["identical"], true, "{replayed}");
}

fn it_ends(tool: &Project<'_>) {
    let fails = |input: Value, kind: &str, message: &str, trace: &str| {
        let failure = tool.invoke(&input).failure();
        assert!(failure.kind == kind && failure.message.contains(message), "{failure:?}");
        assert!(failure.trace.first().is_none_or(|line| line.starts_with(trace)), "{failure:?}");
    };
    fails(json!({"what": "parse", "number": "many"}), "ParseIntError", "invalid digit found in string", "src/lib.rs:");
    let outside = "index out of bounds: the len is 3 but the index is 7";
    fails(json!({"what": "panic", "place": 7}), "panic", outside, "src/lib.rs:");
    fails(json!({"what": "spin"}), "timeout_cpu", "0.5 s", "    at ");
    fails(json!({"what": "fill"}), "out_of_memory", "", "");
    fails(json!({"what": "nothing"}), "NoResult", "run_tool returns nothing", "");
    assert_eq!(tool.invoke(&json!({"what": "parse", "number": "255"})).json(), 255);
}

const NUMBERS: &str = r#"
#[derive(Deserialize, JsonSchema)]
struct Input {
    zero: f64,
}

#[derive(serde::Serialize)]
struct Row {
    rate: f64,
}

fn run_tool(input: Input, _: &Context) -> Result<Vec<Row>, Error> {
    Ok(vec![Row { rate: 1.0 }, Row { rate: input.zero / input.zero }])
}
"#;

#[test]
fn a_number_that_json_does_not_have_is_refused_with_its_place() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).source(NUMBERS).published();
    assert_eq!(tool.invoke(&json!({"zero": 2})).json(), json!([{"rate": 1.0}, {"rate": 1.0}]));
    let failure = tool.invoke(&json!({"zero": 0})).failure();
    assert_eq!(failure.kind, "UnserialisableResult", "{failure:?}");
    assert_eq!(failure.message, "result[1].rate cannot be written as JSON: NaN is not a JSON number");
}
