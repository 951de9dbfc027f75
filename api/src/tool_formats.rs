//! The tools of an agent in the forms that model APIs and agent frameworks take.

mod lobe;
mod strict;

use runner::{Catalogue, ListedTool};
use serde_json::{Value, json};

use crate::mcp::rendered;
use strict::is_strict;

/// A form of tool definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ToolFormat {
    /// `tools/list` of the Model Context Protocol.
    #[default]
    Mcp,
    /// `tools` of OpenAI's chat completions, which many other model APIs take, too.
    OpenAi,
    /// `tools` of OpenAI's responses.
    OpenAiResponses,
    /// `tools` of Anthropic's messages.
    Anthropic,
    /// `functionDeclarations` of Gemini.
    Gemini,
    /// Manifests of LobeChat plugins, one for each family.
    Lobe,
}

/// Renders all tools of a catalogue in their order.
pub(crate) fn tools(catalogue: &Catalogue, format: ToolFormat) -> Vec<Value> {
    let each = |render: fn(&ListedTool) -> Value| catalogue.tools.iter().map(render).collect();
    match format {
        ToolFormat::Mcp => each(|tool| json!(rendered(tool))),
        ToolFormat::OpenAi => each(|tool| json!({"type": "function", "function": function(tool)})),
        ToolFormat::OpenAiResponses => each(|tool| {
            let mut function = function(tool);
            function["type"] = json!("function");
            function
        }),
        ToolFormat::Anthropic => each(|tool| {
            let strict = is_strict(tool.input_schema());
            json!({
                "name": tool.name, "description": tool.description(), "input_schema": tool.input_schema(), "strict": strict,
            })
        }),
        ToolFormat::Gemini => each(|tool| {
            json!({
                "name": tool.name, "description": tool.description(), "parametersJsonSchema": tool.input_schema(),
            })
        }),
        ToolFormat::Lobe => lobe::manifests(catalogue),
    }
}

/// A function of OpenAI. It is strict where the schema allows that.
fn function(tool: &ListedTool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description(),
        "parameters": tool.input_schema(),
        "strict": is_strict(tool.input_schema()),
    })
}
