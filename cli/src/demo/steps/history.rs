//! The record of every run, searched.

use anyhow::bail;

use crate::client::{HistoryFilter, Invocation, SearchField};
use crate::commands::tool::Language;
use crate::demo::report::Told;
use crate::demo::stage::Stage;

/// A word of one output: Frances was greeted in French.
const OUTPUT_WORD: &str = "Bonjour";
/// Where the tool refused Mallory: the function, or in Rust the file, since an error knows only where it was made.
const fn stack_trace_word(language: Language) -> &'static str {
    match language {
        Language::Python => "consult_guest_list",
        Language::Typescript | Language::Javascript => "consultGuestList",
        Language::Rust => "src/lib.rs",
    }
}

pub async fn search_outputs(stage: &Stage) -> anyhow::Result<Told<()>> {
    search(stage, OUTPUT_WORD, SearchField::Output).await
}

pub async fn search_stack_traces(stage: &Stage) -> anyhow::Result<Told<()>> {
    search(stage, stack_trace_word(stage.language()), SearchField::StackTrace).await
}

async fn search(stage: &Stage, word: &str, field: SearchField) -> anyhow::Result<Told<()>> {
    let found = stage.client()?.search_invocations(word, &[field], &HistoryFilter::default()).await?;
    match found.body.tool_invocations.as_slice() {
        [Invocation { id, inputs, .. }] => {
            let name = inputs["name"].as_str().or(inputs["input_parameters"]["name"].as_str()).unwrap_or("?");
            Ok(Told::new((), format!("\"{word}\" is in 1 record: {id}, {name}'s run")))
        }
        others => bail!("one record with \"{word}\" was expected, not {}", others.len()),
    }
}
