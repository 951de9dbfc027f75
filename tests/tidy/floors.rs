//! The crates are floors: each depends on lower ones only, and the lower ones do not know agents.

use super::arrows::dependencies;
use super::{File, code, files, none, product};

/// The crates that do not know agents. `builder` reads what an author declares for models and MCP clients.
const WITHOUT_AGENTS: [&str; 2] = ["runner", "repository"];

/// Words of what is above tools, versions and runs. `conversation` is none: tools receive a document of this name.
const WORDS: [&str; 8] = ["agent", "the library", "mcp", "oauth", "assignment", "skill", "embedding", " model"];

/// Words of other fields: a header of HTTP, reserved addresses, the component model of WebAssembly, and names of secrets in URLs.
const OTHERS: [&str; 6] =
    ["user-agent", "user_agent", "protocol assignments", "component model", "\"oauth\"", "x-oauth-basic"];

/// The sentence of ARCHITECTURE.md with the order of the crates.
const ORDER: &str = "Dependencies run one way: `";

/// Returns the crates of a text such as `a ← b, c ← d`, floor by floor.
fn read_floors(text: &str) -> Vec<Vec<&str>> {
    text.split(" ← ").map(|floor| floor.split(", ").collect()).collect()
}

/// Returns the dependencies of a crate that are not on a lower floor, and that it has none on the floor below.
fn find_wrong(floors: &[Vec<&str>], name: &str, depends_on: &[String]) -> Vec<String> {
    let floor_of = |name: &str| floors.iter().position(|floor| floor.contains(&name));
    let own = floor_of(name).expect("a crate of the order");
    let below: Vec<usize> = depends_on.iter().filter_map(|other| floor_of(other)).collect();
    let mut wrong = Vec::new();
    wrong.extend(
        below.iter().any(|floor| *floor >= own).then(|| format!("{name} depends on its own floor or a higher one")),
    );
    let rests = own == 0 || below.contains(&(own - 1));
    wrong.extend((!rests).then(|| format!("{name} does not depend on the floor below")));
    wrong
}

/// The lines of a crate that have one of the words.
fn find_words(files: &[File], name: &str) -> Vec<String> {
    let sources = format!("{name}/src/");
    let own = files.iter().filter(|file| file.path.starts_with(&sources));
    let lines = own.flat_map(|file| code(file).map(move |(number, line)| (&file.path, number, line)));
    let found = lines.filter(|(_, _, line)| has_word(line));
    found.map(|(path, number, line)| format!("{path}:{number}: {}", line.trim())).collect()
}

fn has_word(line: &str) -> bool {
    let line = OTHERS.iter().fold(line.to_lowercase(), |line, other| line.replace(other, ""));
    WORDS.iter().any(|word| line.contains(word))
}

#[test]
fn crates_depend_on_lower_floors() {
    let files = files();
    let map = &files.iter().find(|file| file.path == "ARCHITECTURE.md").expect("the map").text;
    let order = map.split(ORDER).nth(1).and_then(|rest| rest.split('`').next()).expect("the order of the crates");
    let floors = read_floors(order);
    let all = floors.iter().flatten();
    none(
        "the order in ARCHITECTURE.md is not that of the crates",
        &all.flat_map(|name| find_wrong(&floors, name, &dependencies(name))).collect::<Vec<_>>(),
    );
}

#[test]
fn lower_floors_do_not_know_agents() {
    let files = product();
    let found = WITHOUT_AGENTS.iter().flat_map(|name| find_words(&files, name));
    none("code below agents knows agents", &found.collect::<Vec<_>>());
}

#[test]
fn a_wrong_order_is_found() {
    let floors = read_floors("a ← b, c ← d");
    let wrong = |name: &str, on: &[&str]| {
        find_wrong(&floors, name, &on.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).len()
    };
    assert_eq!([wrong("a", &[]), wrong("b", &["a", "x"]), wrong("d", &["a", "c"])], [0, 0, 0]);
    assert_eq!([wrong("a", &["b"]), wrong("b", &["a", "c"]), wrong("d", &["a"])], [1, 1, 1]);
}

#[test]
fn a_word_of_agents_is_found() {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = [
        file("x/src/lib.rs", "mod agents;"),
        file("x/src/a.rs", "//! The component model, and the header User-Agent.\n#[cfg(test)]\nmod agents {}"),
        file("x/src/b/c.rs", "struct AgentRun;"),
        file("x/src/b/d.rs", "/// The answer of a model."),
        file("y/src/b.rs", "struct Agent;"),
    ];
    let found = [
        "x/src/lib.rs:1: mod agents;",
        "x/src/b/c.rs:1: struct AgentRun;",
        "x/src/b/d.rs:1: /// The answer of a model.",
    ];
    assert_eq!(find_words(&files, "x"), found);
}
