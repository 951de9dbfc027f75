//! Refusals of authors' mistakes, with file and line.

use serde_json::{Value, json};

use super::{empty, server};
use crate::harness::{Bump, Options, Server, Team, Tool};

#[track_caller]
fn refused(tool: Tool<'_>, words: &[&str]) {
    let tool = tool.pushed();
    let answer = tool.publish(Bump::Minor);
    answer.expect(400);
    for word in words {
        assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
    }
    assert!(tool.versions().is_empty());
}

/// The name, more of `package.json`, `index.ts`, and the words of the refusal.
type Case = (&'static str, Value, &'static str, &'static [&'static str]);

fn cases() -> [Case; 15] {
    let good = "export async function runTool() { return 1; }\n";
    [
        (
            "no_export",
            json!({}),
            "export const run = 1;\n",
            &["compile failed (entry-point)", "exports no runTool", "export async function runTool("],
        ),
        ("no_function", json!({}), "export const runTool = 1;\n", &["(entry-point)", "exports `runTool` as number"]),
        ("parameters", json!({}), "export function runTool(a, b) {}\n", &["entry-point-signature", "one object"]),
        ("syntax", json!({}), "\n\nlet a = ;\n", &["bundle failed (syntax): index.ts:3: Unexpected \";\""]),
        (
            "node",
            json!({}),
            "\nimport 'node:sqlite';\nexport const runTool = () => 1;\n",
            &["bundle failed (import): index.ts:2: Could not resolve \"node:sqlite\"", "and modules of Node.js"],
        ),
        ("absent", json!({}), "import './absent';\n", &["index.ts:1: Could not resolve \"./absent\""]),
        (
            "top_await",
            json!({}),
            "\nawait 1;\n",
            &["bundle failed (top-level-await): index.ts:2: ", "await it in runTool"],
        ),
        (
            "throws",
            json!({}),
            "const a: any = null;\n\na.b;\nexport const runTool = () => 1;\n",
            &["compile failed (import): index.ts:3: TypeError: "],
        ),
        (
            "schema",
            json!({}),
            "export const inputSchema = () => 1;\nexport const runTool = () => 1;\n",
            &["input-schema", "zod 4"],
        ),
        (
            "bad_schema",
            json!({}),
            "export const inputSchema = { type: 5 };\nexport const runTool = () => 1;\n",
            &["input-schema"],
        ),
        (
            "other_entry",
            json!({"lathe": {"entry_point": "src/main.ts"}}),
            good,
            &["bundle failed (entry-point): src/main.ts: the file is missing"],
        ),
        (
            "python_entry",
            json!({"lathe": {"entry_point": "tool:run_tool"}}),
            good,
            &["package.json:", "lathe.entry_point must be a file"],
        ),
        ("key", json!({"lathe": {"entrypoint": "x"}}), good, &["package.json:", "entrypoint"]),
        (
            "lock",
            json!({"dependencies": {"zod": "^4"}}),
            good,
            &["dependencies failed (lock-file): package-lock.json: ", "npm install --package-lock-only"],
        ),
        (
            "strange",
            json!({}),
            "export const runTool = async () => 1; throw new Proxy({}, {});\n",
            &["compile failed (import)"],
        ),
    ]
}

#[test]
fn refusals_name_file_and_line() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    for (name, package, source, words) in cases() {
        refused(empty(&team, name, &package).with_file("index.ts", source), words);
    }
}

#[test]
fn a_module_that_never_ends_is_refused_with_its_line() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let source = "\nfor (let turn = 0; ; turn++) globalThis.turn = turn;\nexport const runTool = () => 1;\n";
    let tool = empty(&team, "unending", &json!({})).with_file("index.ts", source);
    refused(tool, &["compile failed (import): index.ts:2: ", "longer than 30 s"]);
}

#[test]
fn lock_files_and_workspaces_of_other_tools_are_named_with_a_way_on() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let script = "export async function runTool() { return 1; }\n";
    let needy = |name: &str, source: &str| {
        let package = json!({"dependencies": {"zod": source}});
        empty(&team, name, &package).with_file("index.ts", script)
    };
    for (number, (file, command)) in [
        ("npm-shrinkwrap.json", "git mv npm-shrinkwrap.json package-lock.json"),
        ("yarn.lock", "npm install --package-lock-only"),
        ("pnpm-lock.yaml", "npm install --package-lock-only"),
        ("bun.lock", "npm install --package-lock-only"),
        ("bun.lockb", "npm install --package-lock-only"),
        ("deno.lock", "npm install --package-lock-only"),
    ]
    .into_iter()
    .enumerate()
    {
        let tool = needy(&format!("other{number}"), "^4").with_file(file, "x");
        refused(tool, &["dependencies failed (lock-file): package-lock.json: ", file, command, "--workspaces=false"]);
    }
    for (number, source) in ["workspace:*", "catalog:", "link:../shared", "file:../shared"].into_iter().enumerate() {
        let tool = needy(&format!("member{number}"), source).with_file("pnpm-lock.yaml", "x");
        refused(tool, &["package.json:", &format!("zod is \"{source}\""), "is defined outside of this project"]);
    }
}

#[test]
fn a_malformed_or_second_project_file_is_refused() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let twice =
        empty(&team, "twice", &json!({"lathe": {}})).with_file("pyproject.toml", "[project]\nname='x'\n[tool.lathe]\n");
    refused(twice, &["both declare a tool"]);
    let broken = empty(&team, "broken", &json!({})).with_file("package.json", "{\n\"name\": \"broken\",\n}");
    refused(broken, &["manifest failed (syntax): package.json:3: "]);
}

#[test]
fn a_server_without_esbuild_names_the_operators_next_step() {
    let environment = vec![("LATHE_ESBUILD".to_owned(), "/nowhere/esbuild".to_owned())];
    let team = Team::on(&Server::private(&Options { environment, ..Options::default() }));
    let tool = empty(&team, "unbuilt", &json!({})).with_file("index.js", "export const runTool = () => 1;\n");
    refused(tool, &["bundle failed (toolchain)", "npm install --global esbuild", "LATHE_ESBUILD"]);
}

#[test]
fn an_esbuild_with_another_digest_is_refused() {
    let Some(esbuild) = super::esbuild() else { return };
    let pinned = |digest: &str| {
        let environment = [("LATHE_ESBUILD", esbuild.as_str()), ("LATHE_ESBUILD_DIGEST", digest)];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Server::private(&Options { environment, ..Options::default() })
    };
    let script = "export const runTool = () => 1;\n";
    let schema = "{\"type\":\"object\"}";
    let package = json!({"lathe": {"entry_point": "index.js", "input_schema": "schema.json"}});
    let other = format!("sha256:{}", "0".repeat(64));
    let server = pinned(&other);
    let team = Team::on(&server);
    let tool = empty(&team, "other", &package).with_file("index.js", script).with_file("schema.json", schema).pushed();
    let answer = tool.publish(Bump::Minor);
    answer.expect(400);
    let detail = answer.detail();
    assert!(detail.contains("toolchain failed (digest)") && detail.contains(&other), "{detail}");
    let found = detail.split("has the digest ").nth(1).and_then(|rest| rest.split(',').next()).expect("a digest");
    let server = pinned(found);
    let team = Team::on(&server);
    empty(&team, "pinned", &package).with_file("index.js", script).with_file("schema.json", schema).published();
}
