//! The guides whose commands are run, each with what its reader has before.

use std::fs;

use serde_json::json;

use super::shell::{Shell, blocks};
use crate::harness::{Options, Server, Team};

/// The guides with commands.
pub const TESTED: [&str; 20] = [
    "back-up-and-restore.md",
    "check-a-tool.md",
    "connect-an-mcp-client.md",
    "export-the-history.md",
    "install.md",
    "keep-and-delete-the-history.md",
    "make-an-agent.md",
    "manage-users.md",
    "move-to-postgres.md",
    "recover-from-failures.md",
    "replay-a-run.md",
    "run-build-workers.md",
    "scale-out.md",
    "set-up-the-build-sandbox.md",
    "store-artifacts-in-a-bucket.md",
    "tools-in-javascript.md",
    "tools-in-python.md",
    "use-a-typed-client.md",
    "use-keys-in-ci.md",
    "verify-a-version.md",
];

/// Guides whose commands need other machines: a cluster, a service manager, a registry of packages. Their commands of `lathe` are
/// checked without running them.
#[test]
fn guides_for_other_machines() {
    let team = Team::new();
    for guide in [
        "install.md",
        "move-to-postgres.md",
        "run-build-workers.md",
        "scale-out.md",
        "store-artifacts-in-a-bucket.md",
        "tools-in-javascript.md",
        "use-a-typed-client.md",
    ] {
        let shell = Shell::of(&team).replacing("cd lathe-client", ":").replacing("cp deploy", ": deploy");
        let shell =
            shell.replacing("git add package.json package-lock.json", ":").replacing("> deploy/master.key", "> key");
        shell.replacing("lathe login", ": lathe login").follow(guide);
    }
}

#[test]
fn users_roles_and_keys() {
    Shell::of(&Team::new()).follow("manage-users.md");
}

#[test]
fn checks_of_a_tool() {
    let team = Team::new();
    let mut shell = Shell::of(&team);
    assert_eq!(shell.run("lathe tool new greet").code, Some(0));
    shell.follow("check-a-tool.md");
}

#[test]
fn a_replay() {
    let team = Team::new();
    let tool = team.tool("greet").published();
    team.lathe().ok(&["tool", "publish", "greet", "--bump", "major"]);
    tool.invoke(json!({"name": "Ada"}));
    Shell::of(&team).follow("replay-a-run.md");
}

#[test]
fn a_verified_version() {
    let team = Team::new();
    let _tool = team.tool("shout").published();
    Shell::of(&team).follow("verify-a-version.md");
}

#[test]
fn exports_and_holds() {
    let team = Team::new();
    let greet = team.tool("greet").published();
    greet.invoke(json!({"a": 1}));
    let _tool = team.tool("lookup").published();
    let mut shell = Shell::of(&team);
    shell.follow("export-the-history.md");
    assert!(fs::read_to_string(shell.directory().join("runs.jsonl")).expect("an export").contains(greet.id()));
    // The id in the guide is an example.
    shell.replacing("6ab13d50a3c20f6f6e5d4c3b", "\"$(HOLD)\"").follow("keep-and-delete-the-history.md");
}

#[test]
fn variables_and_keys_in_ci() {
    let team = Team::new();
    let tool = team.tool("greet").published();
    let mut shell = Shell::of(&team).with_variable("API_KEY", "s3cret").replacing("pyproject.toml -o", "-o");
    shell.follow("tools-in-python.md");
    let address = team.server.address().to_string();
    let shell = Shell::of(&team).replacing("https://", "http://").replacing("tools.example.com", &address);
    // The blocks of this guide share a variable of the shell.
    let shell = shell.with_variable("server", &format!("{address}/v1/{}/tool", team.organization));
    let shell = shell.replacing("ci:", "ada:").replacing("username=ci", "username=ada");
    let shell =
        shell.replacing("clone", "clone --quiet --bare").replacing("tools.git\"", "tools.git\" \"clone$RANDOM\"");
    let mut shell = shell.with_variable("LATHE_API_KEY", &team.api_key).with_variable("TOOL_ID", tool.id());
    for block in blocks("docs/how-to/use-keys-in-ci.md") {
        // Each publication has something to publish.
        team.push();
        let said = shell.run(&block);
        assert_eq!(said.code, Some(0), "{block}\n{said:?}");
    }
}

#[test]
fn backups_and_removals() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let directory = server.data().parent().expect("a parent").to_owned();
    // The reader has a copy of the key in another place.
    fs::copy(server.data().join("keys/master.key"), directory.join("master.key")).expect("the key");
    Shell::on(&server, &directory).follow("back-up-and-restore.md");
    Shell::of(&team).follow("set-up-the-build-sandbox.md");
    Shell::on(&server, &directory).follow("recover-from-failures.md");
}

#[test]
fn an_agent_for_mcp_clients() {
    let team = Team::new();
    let _tool = team.tool("search_orders").published();
    Shell::of(&team).follow("connect-an-mcp-client.md");
}

/// The first document in a block of JSON of a guide.
fn first_json(guide: &str) -> String {
    let text = fs::read_to_string(format!("{}/../docs/how-to/{guide}", env!("CARGO_MANIFEST_DIR"))).expect("a guide");
    let (_, block) = text.split_once("```json\n").expect("a block");
    block.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn an_agent_with_states_and_turns() {
    let team = Team::new();
    let mut tool = team.tool("search_orders").published();
    for answer in ["return 1", "return 2"] {
        tool = tool.body(answer).published();
    }
    let (_pay, _orders) = (team.tool("pay").published(), team.tool("orders").published());
    let state = first_json("make-an-agent.md").replace("691f3b2a5c1e4d7f8a9b0c1d", tool.id());
    team.repository.write("support.json", state.as_bytes());
    team.repository.write("prompt.md", b"You answer questions about orders.");
    let digest = "\"$(command lathe --json tool show search_orders 1.2.0 | sed -n 's/.*\"component_digest\": \"\\([^\"]*\\)\".*/\\1/p')\"";
    Shell::of(&team).replacing("sha256:…", digest).follow("make-an-agent.md");
}
