//! The tool that is compared with the peers' tools: one word in upper case, without anything that they do not do.

use serde::{Deserialize, Serialize};

wit_bindgen::generate!({ path: "../../../../scaffold/wit", world: "tool" });

struct Tool;

#[derive(Serialize, Deserialize)]
struct Text {
    text: String,
}

impl Guest for Tool {
    fn run_tool(context: Context) -> Result<String, ToolError> {
        let input: Text = serde_json::from_str(&context.tool_input).map_err(refuse)?;
        serde_json::to_string(&Text { text: input.text.to_uppercase() }).map_err(refuse)
    }
}

fn refuse(error: impl ToString) -> ToolError {
    ToolError { kind: "Refused".into(), message: error.to_string(), stack_trace: Vec::new() }
}

export!(Tool);
