//! The imports of a component, and the version bump that an added import requires.

use serde_json::json;

use super::machine;
use super::project::Project;
use crate::harness::{Bump, Team};

const COUNTS: &str = "#[derive(Deserialize, JsonSchema)]
struct Input {
    text: String,
}

fn run_tool(input: Input, _: &Context) -> Result<usize, Error> {
    Ok(input.text.len())
}
";
const ALONE: &str = "    Ok(input";
/// The same tool with an outbound request.
const ASKING: &str = "    lathe::http::get(\"https://example.com\").send()?;\n    Ok(input";

const NUMBERS: &str = "#[derive(Deserialize, JsonSchema)]
struct Input {
    count: u32,
    bytes: Vec<u8>,
    balance: Option<i64>,
}

fn run_tool(input: Input, _: &Context) -> Result<u64, Error> {
    Ok(u64::from(input.count) + input.bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>() + input.balance.unwrap_or_default().unsigned_abs())
}
";

#[test]
fn integers_have_the_bounds_of_their_types_and_any_spelling() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).source(NUMBERS).published();
    let properties = &tool.version("1.0.0")["input_schema"]["properties"];
    assert_eq!((&properties["count"]["minimum"], &properties["count"]["maximum"]), (&json!(0), &json!(u32::MAX)));
    assert_eq!(properties["balance"]["minimum"], i64::MIN, "{properties}");
    let run = tool.invoke(&json!({"count": 2.0, "bytes": [1.0, 3], "balance": -4.0}));
    assert_eq!(run.output(), "10");
    tool.refuses(&json!({"count": 4_294_967_296_u64, "bytes": []}));
    tool.refuses(&json!({"count": -1, "bytes": []}));
    tool.refuses(&json!({"count": 1, "bytes": [256]}));
    tool.refuses(&json!({"count": 1.5, "bytes": []}));
}

#[test]
fn an_added_interface_requires_a_minor_bump() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).source(COUNTS).published();
    let world = &tool.version("1.0.0")["settings"]["world"];
    assert_eq!(world["name"], "lathe:tool/tool@0.1.0", "{world}");
    assert_eq!(world["exports"], json!(["input-schema", "run-tool"]), "{world}");
    assert!(!world["imports"].to_string().contains("lathe:tool/http"), "{world}");
    let tool = tool.changed("src/lib.rs", ALONE, ASKING);
    let refused = tool.publish(Bump::Patch);
    refused.expect(400);
    for words in ["gate failed (bump)", "now needs lathe:tool/http from its host", "Publish it as minor"] {
        assert!(refused.detail().contains(words), "{words:?} is not in {refused}");
    }
    let tool = tool.published();
    let world = &tool.version("1.1.0")["settings"]["world"];
    assert!(world["imports"].to_string().contains("\"lathe:tool/http@0.1.0\""), "{world}");
    let tool = tool.changed("src/lib.rs", ASKING, ALONE);
    assert_eq!(tool.publish(Bump::Patch).expect(201)["new_version"], "1.1.1");
}
