//! The tools of an agent in the forms that model APIs and agent frameworks take.

mod lobe;
mod strict;

use agents::{Catalogue, ListedTool};
use mcp::render_tool;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use strict::{StrictDialect, is_strict};

/// Bytes of the definitions of one page, as of a page of the history.
const PAGE_BYTES_MAX: usize = 8 << 20;

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

impl ToolFormat {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Lobe => "lobe",
        }
    }

    /// The name of the list of a catalogue in this form. It changes with the list.
    pub(crate) fn list_name(self, catalogue: &Catalogue) -> [String; 2] {
        [self.as_str().to_owned(), catalogue.digest().to_hex()]
    }
}

/// A part of the definitions of a catalogue.
pub(crate) struct Definitions {
    pub items: Vec<Box<RawValue>>,
    /// Whether further ones follow.
    pub has_more: bool,
}

/// Renders the definitions of a catalogue in their order from `start` on: at most `limit`, and [`PAGE_BYTES_MAX`] together, but at least
/// one. Only the one that is being rendered is parsed.
pub(crate) fn render_definitions(
    catalogue: &Catalogue,
    format: ToolFormat,
    start: usize,
    limit: usize,
) -> serde_json::Result<Definitions> {
    match format {
        ToolFormat::Lobe => {
            render_page(lobe::group_families(catalogue).iter().map(|family| family.render_manifest()), start, limit)
        }
        format => render_page(catalogue.tools.iter().map(|tool| render_definition(tool, format)), start, limit),
    }
}

fn render_page(rendered: impl Iterator<Item = Value>, start: usize, limit: usize) -> serde_json::Result<Definitions> {
    let (mut items, mut bytes) = (Vec::new(), 0);
    for item in rendered.skip(start) {
        let item = to_raw_value(&item)?;
        bytes += item.get().len();
        if items.len() == limit || (bytes > PAGE_BYTES_MAX && !items.is_empty()) {
            return Ok(Definitions { items, has_more: true });
        }
        items.push(item);
    }
    Ok(Definitions { items, has_more: false })
}

fn render_definition(tool: &ListedTool, format: ToolFormat) -> Value {
    match format {
        ToolFormat::Mcp | ToolFormat::Lobe => json!(render_tool(tool)),
        ToolFormat::OpenAi => json!({"type": "function", "function": render_function(tool)}),
        ToolFormat::OpenAiResponses => {
            let mut function = render_function(tool);
            function["type"] = json!("function");
            function
        }
        ToolFormat::Anthropic => {
            let schema = tool.model_input_schema();
            let strict = is_strict(&schema, StrictDialect::Anthropic);
            json!({"name": tool.name, "description": tool.description(), "input_schema": schema, "strict": strict})
        }
        ToolFormat::Gemini => json!({
            "name": tool.name, "description": tool.description(), "parametersJsonSchema": tool.model_input_schema(),
        }),
    }
}

/// A function of OpenAI. It is strict where the schema allows that.
fn render_function(tool: &ListedTool) -> Value {
    let schema = tool.model_input_schema();
    let strict = is_strict(&schema, StrictDialect::OpenAi);
    json!({"name": tool.name, "description": tool.description(), "parameters": schema, "strict": strict})
}
