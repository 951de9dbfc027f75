//! `search_tools`: the tools of an agent whose list would be too long for a model.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use registry::{Correction, Permission, SchemaText, do_heavy_work, suggest_in};
use runner::{NativeTool, NativeToolRefused, NativeToolSpec, Outcome, ToolEffect, failed, schema_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::catalogue::{Catalogue, ListedTool, SEARCH_TOOLS, SearchIndex, ToolText};
use crate::client_schema::show_schemas;

/// Tools of one answer, when the call does not say.
const LIMIT_DEFAULT: usize = 10;
/// Tools of one answer, some kilobytes each.
const LIMIT_MAX: usize = 50;
/// Bytes of the tools of one answer. Schemas of hundreds of kilobytes would make it larger than any output may be.
const FOUND_BYTES_MAX: usize = 512 << 10;

const TOOL: NativeToolSpec<Search> = NativeToolSpec {
    title: Some("Search tools"),
    description: Some(
        "Finds tools by words of their names and descriptions, the best matches first. A word that no tool has is taken for near \
        ones. Returns names, descriptions and input schemas. Call a tool with run_tool.",
    ),
    permission: Some(Permission::OwnAccount),
    effect: Some(ToolEffect::ReadOnly),
    input_schema: Some(schema_of::<Query>),
    output_schema: Some(schema_of::<FoundTools>),
    handler: Some(handle),
    ..NativeToolSpec::new("", SEARCH_TOOLS)
};

/// A call, with the catalogue that it searches.
struct Search {
    catalogue: Arc<Catalogue>,
    arguments: Map<String, Value>,
}

/// A search.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Query {
    /// Words, separated by spaces.
    #[schemars(length(min = 1, max = 512))]
    query: String,
    /// The number of tools to return.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

/// The tools that were found.
#[derive(Serialize, JsonSchema)]
struct FoundTools {
    #[schemars(with = "Vec<FoundTool<'static>>")]
    tools: Vec<Box<RawValue>>,
    /// Number of all tools that match.
    matches: usize,
    /// Words of the query that no tool has, with near words for which each was taken.
    #[schemars(with = "Vec<TakenWord>")]
    corrections: Vec<Correction>,
}

/// A word of the query, and the words for which it was taken.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is the schema of a correction")]
struct TakenWord {
    word: String,
    taken_for: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct FoundTool<'a> {
    name: &'a str,
    description: String,
    #[schemars(with = "Value")]
    input_schema: Cow<'a, SchemaText>,
}

/// Returns the tool that searches a catalogue.
///
/// # Errors
/// When its declaration is incomplete, which a test excludes.
pub fn search_tools(catalogue: Arc<Catalogue>) -> Result<NativeTool, NativeToolRefused> {
    TOOL.complete(move |call| Search { catalogue: catalogue.clone(), arguments: call.arguments }, show_schemas)
}

fn handle(Search { catalogue, arguments }: Search) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        match serde_json::from_value(Value::Object(arguments)) {
            Ok(query) => search(catalogue, query).await,
            Err(error) => failed("input_schema", suggest_in(error.to_string())),
        }
    })
}

/// Searches on a thread of its own, unless the catalogue is small.
async fn search(catalogue: Arc<Catalogue>, query: Query) -> Outcome {
    let words = SearchIndex::split_words(&query.query);
    // An index that is not made yet costs as much as a search.
    let bytes = catalogue.search_index.get().map_or(usize::MAX, |index| index.bytes().saturating_mul(words.len()));
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let found = do_heavy_work(bytes, move || find_tools(&catalogue, &words, limit)).await;
    match found.map_err(|error| error.to_string()).and_then(|found| found) {
        Ok(output) => Outcome::Succeeded { output },
        Err(problem) => failed("internal", problem),
    }
}

fn find_tools(catalogue: &Catalogue, words: &[String], limit: usize) -> Result<String, String> {
    let index = catalogue.search_index.get_or_init(|| SearchIndex::of(catalogue.tools.iter().map(build_text)));
    let corrections = index.correct(words);
    let mut scored: Vec<_> =
        index.compute_scores(words, &corrections).zip(&catalogue.tools).filter(|(score, _)| *score > 0).collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let (mut tools, mut bytes) = (Vec::new(), 0);
    for (_, tool) in scored.iter().take(limit) {
        let tool = to_raw_value(&show_tool(tool)).map_err(|error| error.to_string())?;
        bytes += tool.get().len();
        if bytes > FOUND_BYTES_MAX {
            break;
        }
        tools.push(tool);
    }
    serde_json::to_string(&FoundTools { tools, matches: scored.len(), corrections }).map_err(|error| error.to_string())
}

fn build_text(tool: &ListedTool) -> ToolText {
    ToolText::of(&tool.name, &tool.description())
}

fn show_tool(tool: &ListedTool) -> FoundTool<'_> {
    FoundTool { name: &tool.name, description: tool.description(), input_schema: tool.input_schema_text() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_complete() {
        TOOL.complete(|_| unreachable!("the test calls no tool"), show_schemas).unwrap();
    }
}
