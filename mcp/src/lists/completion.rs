//! `completion/complete`: values of the arguments of prompts and of variables of resources.

use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompleteResult, CompletionInfo};

use super::mixed_list::MixedList;
use super::prompts::{LibraryPrompt, refuse_prompt};
use super::resources::{TEMPLATE, VARIABLE};
use super::tool_forms::find_resource;
use super::tool_prompts::find_values;

/// Proposes the default of an argument of a prompt, or the values that the schema of a tool lists.
pub async fn complete_prompt(
    list: &MixedList<'_>,
    name: &str,
    argument: &ArgumentInfo,
) -> Result<CompleteResult, ErrorData> {
    let missing = || ErrorData::invalid_params(format!("The prompt {name} has no argument {}.", argument.name), None);
    let Some(own) = list.find_item(name).await? else {
        let tool = list.tools.iter().find(|tool| tool.name == name).ok_or_else(|| refuse_prompt(name))?;
        return propose_values(find_values(tool, &argument.name).ok_or_else(missing)?.into_iter(), argument);
    };
    let prompt = LibraryPrompt::of(own)?;
    let variable = prompt.variables.into_iter().find(|variable| variable.name == argument.name);
    let variable = variable.ok_or_else(missing)?;
    propose_values(variable.default_value.into_iter(), argument)
}

/// Proposes ids of artifacts, newest first, or the values that the schema of a tool lists.
pub async fn complete_resource(
    list: &MixedList<'_>,
    template: &str,
    argument: &ArgumentInfo,
) -> Result<CompleteResult, ErrorData> {
    let unknown = || {
        let text = format!("There is no resource template {template} with a variable {}.", argument.name);
        ErrorData::invalid_params(text, None)
    };
    if let Some(tool) = list.tools.iter().find(|tool| find_resource(tool).is_some_and(|uri| uri.as_str() == template)) {
        let has_variable = find_resource(tool).is_some_and(|uri| uri.variables().any(|name| name == argument.name));
        let values = find_values(tool, &argument.name).filter(|_| has_variable).ok_or_else(unknown)?;
        return propose_values(values.into_iter(), argument);
    }
    let is_artifact = (template, argument.name.as_str()) == (TEMPLATE, VARIABLE);
    let items = list.items.as_ref().filter(|_| is_artifact).ok_or_else(unknown)?;
    // A read of one value more than the response has shows whether there are further values.
    let ids = items.find_ids(&argument.value, CompletionInfo::MAX_VALUES + 1).await?;
    propose_values(ids.iter().map(ToString::to_string), argument)
}

/// The values that begin with the text of the client, as many as the protocol allows.
fn propose_values(values: impl Iterator<Item = String>, argument: &ArgumentInfo) -> Result<CompleteResult, ErrorData> {
    let mut values: Vec<_> = values.filter(|value| value.starts_with(&argument.value)).collect();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    let total = if has_more { None } else { u32::try_from(values.len()).ok() };
    values.truncate(CompletionInfo::MAX_VALUES);
    let info = CompletionInfo::with_pagination(values, total, has_more);
    Ok(CompleteResult::new(info.map_err(|problem| ErrorData::internal_error(problem, None))?))
}
