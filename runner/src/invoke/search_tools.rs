//! `search_tools`: the tools of an agent whose list would be too long for a model.

use std::sync::Arc;

use registry::{Permission, SchemaText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::catalogue::{Catalogue, ListedTool};
use crate::native::{NativeCall, NativeTool, NativeToolRefused, NativeToolSpec, ToolEffect, schema_of};
use crate::outcome::{Outcome, failed};

/// Tools of one answer, when the call does not say.
const LIMIT_DEFAULT: usize = 10;
/// Tools of one answer, some kilobytes each.
const LIMIT_MAX: usize = 50;
/// Weight of a word in the name of a tool, when one in its description weighs 1.
const NAME_WEIGHT: usize = 3;

const TOOL: NativeToolSpec = NativeToolSpec {
    title: Some("Search tools"),
    description: Some(
        "Finds tools by words of their names and descriptions, the best matches first. Returns names, descriptions and \
        input schemas. Call a tool with run_tool.",
    ),
    permission: Some(Permission::OwnAccount),
    effect: Some(ToolEffect::ReadOnly),
    input_schema: Some(schema_of::<Query>),
    output_schema: Some(schema_of::<Found>),
    handler: Some(|_| Box::pin(async { failed("internal", "the tool was not bound to a catalogue") })),
    ..NativeToolSpec::new("", "search_tools")
};

/// A search.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Query {
    /// Words, separated by spaces.
    query: String,
    /// The number of tools to return.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

/// The tools that were found.
#[derive(Serialize, JsonSchema)]
struct Found {
    tools: Vec<FoundTool>,
    /// Number of all tools that match.
    matches: usize,
}

#[derive(Serialize, JsonSchema)]
struct FoundTool {
    name: String,
    description: String,
    #[schemars(with = "Value")]
    input_schema: SchemaText,
}

/// Returns the tool that searches a catalogue.
///
/// # Errors
/// When its declaration is incomplete, which a test excludes.
pub fn search_tools(catalogue: Arc<Catalogue>) -> Result<NativeTool, NativeToolRefused> {
    Ok(TOOL.complete()?.bound(move |call| search(&catalogue, call)))
}

fn search(catalogue: &Catalogue, call: NativeCall) -> Outcome {
    let query: Query = match serde_json::from_value(Value::Object(call.arguments)) {
        Ok(query) => query,
        Err(error) => return failed("input_schema", error.to_string()),
    };
    let words: Vec<_> = query.query.split_whitespace().map(str::to_lowercase).collect();
    let scored = catalogue.tools.iter().map(|tool| (score(tool, &words), tool));
    let mut scored: Vec<_> = scored.filter(|(score, _)| *score > 0).collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let found =
        Found { matches: scored.len(), tools: scored.into_iter().take(limit).map(|(_, tool)| shown(tool)).collect() };
    match serde_json::to_string(&found) {
        Ok(output) => Outcome::Succeeded { output },
        Err(error) => failed("internal", error.to_string()),
    }
}

/// The weight of the words that a tool has.
fn score(tool: &ListedTool, words: &[String]) -> usize {
    let (name, description) = (tool.name.to_lowercase(), tool.description().to_lowercase());
    let weight =
        |word: &String| usize::from(name.contains(word)) * NAME_WEIGHT + usize::from(description.contains(word));
    words.iter().map(weight).sum()
}

fn shown(tool: &ListedTool) -> FoundTool {
    FoundTool {
        name: tool.name.clone(),
        description: tool.description(),
        input_schema: tool.input_schema_text().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_complete() {
        TOOL.complete().unwrap();
    }
}
