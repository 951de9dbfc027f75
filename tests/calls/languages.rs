//! Calls by tools in TypeScript and Rust.

use serde_json::json;

use super::calls_of;
use crate::harness::{Options, Team};
use crate::javascript;
use crate::rust::{machine, project::Project};

const TYPESCRIPT: &str = "
    const { name } = toolInput as { name: string };
    const texts = await Promise.all([callTool(name, { a: 1 }), callTool(name, { a: 2 })]);
    try {
      await callTool('other');
    } catch (error: any) {
      texts.push(`${error.name} ${error.code} ${error.kind}`);
    }
    try {
      await callTool(name, { fails: true });
    } catch (error: any) {
      texts.push(`${error.code} ${error.kind} ${error.message}`);
    }
    // Three bytes each: more than the host accepts, in fewer characters than the package lets pass.
    await callTool(name, { text: '一'.repeat(100_000) }).catch((error: any) => texts.push(`${error.code} ${error.message}`));
    const late = AbortSignal.timeout(50);
    await callTool(name, { rests: true }, { signal: late }).catch((error) => texts.push(error.name));
    return texts;
";

const RUST: &str = "#[derive(Deserialize, JsonSchema)]
struct Input {
    name: String,
}

fn run_tool(input: Input, _: &Context) -> Result<Vec<String>, Error> {
    use lathe::tools::{self, ErrorCode};
    use std::collections::BTreeMap;

    let failed = |error: tools::ToolCallError| Error::new(\"Failed\", error.to_string());
    let one = tools::start(&input.name, &BTreeMap::from([(\"a\", 1)])).map_err(failed)?;
    let two = tools::start(&input.name, &BTreeMap::from([(\"a\", 2)])).map_err(failed)?;
    drop(tools::start(&input.name, &BTreeMap::from([(\"rests\", true)])).map_err(failed)?);
    let mut texts = vec![one.finish().map_err(failed)?.0, two.finish().map_err(failed)?.0];
    let denied = tools::call(\"other\", &BTreeMap::<String, u8>::new()).unwrap_err();
    texts.push(format!(\"{} {:?}\", denied.code == ErrorCode::Denied, denied.kind));
    let raised = tools::call(&input.name, &BTreeMap::from([(\"fails\", true)])).unwrap_err();
    texts.push(format!(\"{:?} {}\", raised.kind, raised.message));
    Ok(texts)
}
";

const ANSWERS: &str = "
    import asyncio
    if tool_input.get('fails'):
        raise ValueError('no')
    if tool_input.get('rests'):
        await asyncio.sleep(20)
    return tool_input
";

#[test]
fn a_typescript_tool_calls_others() {
    let Some(server) = javascript::server(Options::default()) else { return };
    let team = Team::on(&server);
    team.tool("answers").body(ANSWERS).published();
    let calls = json!({"lathe": {"calls": {"answers": ">=1"}}});
    let run =
        javascript::typescript(&team, "asks", &calls, "", TYPESCRIPT).published().invoke(json!({"name": "answers"}));
    let expected = json!([
        r#"{"a":1}"#,
        r#"{"a":2}"#,
        "ToolCallError denied undefined",
        "failed ValueError no",
        "invalid_arguments the arguments of a call may have at most 262144 bytes",
        "TimeoutError"
    ]);
    assert_eq!(run.json(), expected, "{run}");
    assert_eq!(calls_of(&team, &run)[5]["error"], "cancelled");
}

#[test]
fn a_rust_tool_calls_others() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    team.tool("answers").body(ANSWERS).published();
    let tool = Project::new(&team).source(RUST).lathe("calls = { answers = '>=1' }\n").published();
    let run = tool.invoke(&json!({"name": "answers"}));
    let expected = json!([r#"{"a":1}"#, r#"{"a":2}"#, "true None", "Some(\"ValueError\") no"]);
    assert_eq!(run.json(), expected, "{run}");
    assert_eq!(calls_of(&team, &run)[2]["error"], "cancelled");
}
