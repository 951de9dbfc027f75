//! `completion/complete`: values of the arguments of prompts, and ids of artifacts.

use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompleteResult, CompletionInfo};

use super::library_items::LibraryItems;
use super::prompts::{LibraryPrompt, unknown};
use super::resources::{TEMPLATE, VARIABLE};

/// Proposes the default of an argument of a prompt.
pub(super) async fn of_prompt(
    items: &LibraryItems,
    name: &str,
    argument: &ArgumentInfo,
) -> Result<CompleteResult, ErrorData> {
    let prompt = LibraryPrompt::of(items.named(name).await?.ok_or_else(|| unknown(name))?)?;
    let variable = prompt.variables.into_iter().find(|variable| variable.name == argument.name);
    let variable = variable.ok_or_else(|| {
        ErrorData::invalid_params(format!("The prompt {name} has no argument {}.", argument.name), None)
    })?;
    proposed(variable.default_value.into_iter(), argument)
}

/// Proposes ids of artifacts, newest first.
pub(super) async fn of_resource(
    items: &LibraryItems,
    template: &str,
    argument: &ArgumentInfo,
) -> Result<CompleteResult, ErrorData> {
    if (template, argument.name.as_str()) != (TEMPLATE, VARIABLE) {
        let text = format!("The only resource template is {TEMPLATE}.");
        return Err(ErrorData::invalid_params(text, None));
    }
    proposed(items.ids().await?.iter().map(ToString::to_string), argument)
}

/// The values that begin with the text of the client, as many as the protocol allows.
fn proposed(values: impl Iterator<Item = String>, argument: &ArgumentInfo) -> Result<CompleteResult, ErrorData> {
    let mut values: Vec<_> = values.filter(|value| value.starts_with(&argument.value)).collect();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), total > CompletionInfo::MAX_VALUES);
    Ok(CompleteResult::new(info.map_err(|problem| ErrorData::internal_error(problem, None))?))
}
