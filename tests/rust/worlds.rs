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
