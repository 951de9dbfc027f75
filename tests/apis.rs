//! Tools with several APIs, from the project file to calls over HTTP and by agents.

mod agents;
mod instructions;
mod javascript;
mod python;
mod rust;
mod versions;

use serde_json::json;

use crate::harness::{Team, Tool};

const PARAMETERS: &str = "tool_input, metadata, config, conversation, send_status_event, user_variables";

/// The declaration of an API in pyproject.toml.
fn declared(name: &str, more: &str) -> String {
    format!("[tool.lathe.apis.{name}]\ndescription = 'The API {name}.'\n{more}\n")
}

/// The asynchronous function of an API.
fn function(name: &str, arguments: &str, body: &str) -> String {
    let (first, rest) = PARAMETERS.split_once(", ").expect("several parameters");
    format!("async def {name}({first}{arguments}, {rest}):\n    {body}\n")
}

/// A tool with six APIs whose arguments are trees.
fn forests(team: &Team) -> Tool<'_> {
    let children = json!({"type": "array", "items": {"$ref": "#"}});
    let properties = json!({"name": {"type": "string"}, "children": children});
    let tree = json!({"type": "object", "properties": properties, "required": ["name"]});
    let api = |number: usize| function(&format!("plant{number}"), "", "return tool_input['name']");
    let declared = |number: usize| declared(&format!("plant{number}"), "input_schema = 'tree.json'");
    let (code, manifest) = ((0..6).map(api).collect::<String>(), (0..6).map(declared).collect::<String>());
    team.tool("forests").manifest(&manifest).with_file("tool.py", &code).with_file("tree.json", &tree.to_string())
}

/// A tool that creates and lists orders.
pub fn orders(team: &Team) -> Tool<'_> {
    let code = format!(
        "from dataclasses import dataclass\n\n@dataclass\nclass Order:\n    item: str\n    count: int = 1\n\n{}\n{}",
        function("create", ": Order", "return {'created': tool_input.item, 'count': tool_input.count}"),
        function("list", "", "return {'listed': tool_input}"),
    );
    team.tool("orders").manifest(&(declared("create", "") + &declared("list", ""))).with_file("tool.py", &code)
}
