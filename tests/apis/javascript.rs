//! Tools in JavaScript and TypeScript.

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Team, Tool};
use crate::javascript::server;

const CODE: &str = "
export const inputSchemas = {create: {
  type: 'object', properties: {item: {type: 'string'}}, required: ['item'], additionalProperties: false,
}};
export class OrderError extends Error {}
export const CURRENCY = 'EUR';
export async function create({ toolInput, metadata }: any) {
  if (toolInput.item === 'none') throw new OrderError('sold out');
  return {created: toolInput.item, tool: metadata.toolName};
}
export const list = ({ toolInput }: any) => ({listed: toolInput});
";

fn team() -> Option<Team> {
    Some(Team::on(&server(Options::default())?))
}

fn orders<'t>(team: &'t Team, code: &str) -> Tool<'t> {
    let api = |description: &str| json!({ "description": description });
    let package = json!({
        "name": "orders", "type": "module", "lathe": {"apis": {"create": api("Creates."), "list": api("Lists.")}},
    });
    let tool = team.tool("orders").without_file("pyproject.toml").without_file("tool.py");
    tool.with_file("package.json", &package.to_string()).with_file("index.ts", code)
}

#[test]
fn a_call_runs_the_exported_function_of_the_api() {
    let Some(team) = team() else { return };
    let tool = orders(&team, CODE).published();
    let call = |api: &str, arguments: Value| tool.invoke(json!({"api": api, "arguments": arguments}));
    assert_eq!(call("create", json!({"item": "pen"})).json(), json!({"created": "pen", "tool": "orders"}));
    assert_eq!(call("list", json!({"page": 1})).json(), json!({"listed": {"page": 1}}));
    let failure = call("create", json!({"item": "none"})).failure();
    assert_eq!(failure.message, "sold out");
    assert!(failure.trace.iter().any(|line| line.contains("index.ts:")), "{failure:?}");
    let shown = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert_eq!(shown["settings"]["apis"]["create"]["input_schema"]["required"], json!(["item"]), "{shown}");
    assert_eq!(shown["settings"]["apis"]["list"]["input_schema"], json!({"type": "object"}), "{shown}");
}

#[test]
fn a_schema_of_the_code_may_convert_the_arguments() {
    let Some(team) = team() else { return };
    let code = "
        const schema = {'~standard': {
          validate: (input) => input.page > 9 ? {issues: [{path: ['page'], message: 'too far'}]} : {value: {page: 1, ...input}},
          jsonSchema: {input: () => ({type: 'object', properties: {page: {type: 'integer'}}})},
        }};
        export const inputSchemas = {list: schema};
        export const create = () => 1;
        export const list = ({ toolInput }: any) => toolInput;
    ";
    let tool = orders(&team, code).published();
    let list = |arguments: Value| tool.invoke(json!({"api": "list", "arguments": arguments}));
    assert_eq!(list(json!({})).json(), json!({"page": 1}));
    let failure = list(json!({"page": 10})).failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("InvalidInput", "page: too far"));
}

#[test]
fn other_exports_than_the_declared_apis_are_refused() {
    let Some(team) = team() else { return };
    let tool = orders(&team, "");
    let again = |code: &str| orders(&team, code).with_id(tool.id());
    let refused = |code: &str| again(code).pushed().publish(Bump::Minor).detail();
    let drift = refused("export const create = () => 1;\nexport function remove() {}\n");
    let expected = "compile failed (apis): index.ts: the declared APIs are not the exported functions: \
                    declared `create, list`, exported `create, remove`;";
    assert!(drift.contains(expected), "{drift}");
    let tested = again("export const create = () => 1;").pushed().test(&json!({})).detail();
    assert!(tested.contains("declared `create, list`, exported `create`;"), "the test of a branch: {tested}");
    let both = "export const create = () => 1;\nexport const list = (a: any, b: any) => 1;\n";
    assert!(
        refused(both).contains("(entry-point-signature): index.ts: list must take one object"),
        "{}",
        refused(both)
    );
    let one = "export const create = () => 1;\nexport const list = () => 1;\nexport const inputSchema = {};\n";
    assert!(refused(one).contains("export `inputSchemas`"), "{}", refused(one));
    let other = one.replace("inputSchema = {}", "inputSchemas = {remove: {}}");
    assert!(refused(&other).contains("a schema for `remove`, which is no API"), "{}", refused(&other));
    let missing = again("").without_file("index.ts").pushed().publish(Bump::Minor).detail();
    assert!(missing.contains("index.ts: the file is missing: set `entry_point` to the one that exports"), "{missing}");
}
