//! Steps that search the history.

use anyhow::bail;
use api::wire::ToolInvocation;
use serde_json::Value;

use registry::SearchField;

use crate::client::{HistoryFilter, Search};
use crate::demo::environment::Environment;
use crate::demo::report::StepResult;
use crate::demo::steps::second_version;

/// A word that occurs in one output: the greeting of Frances is in French.
const OUTPUT_WORD: &str = "Bonjour";

pub async fn search_outputs(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    search(environment, OUTPUT_WORD, SearchField::Output).await
}

pub async fn search_stack_traces(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    let word = second_version::of(environment.template())?.stack_trace_word;
    search(environment, word, SearchField::ExceptionStackTrace).await
}

async fn search(environment: &Environment, word: &str, field: SearchField) -> anyhow::Result<StepResult<()>> {
    let search = Search { text: word, fields: &[field], filter: HistoryFilter::default() };
    let found = environment.client()?.search_invocations(&search, None).await?;
    match found.body.tool_invocations.as_slice() {
        [ToolInvocation { id, inputs, .. }] => {
            let inputs: Value = serde_json::from_str(inputs.as_str())?;
            let name = inputs["name"].as_str().or(inputs["input_parameters"]["name"].as_str()).unwrap_or("?");
            Ok(StepResult::new((), format!("\"{word}\" is in 1 record: {id}, {name}'s run")))
        }
        others => bail!("expected 1 record with \"{word}\", got {}", others.len()),
    }
}
