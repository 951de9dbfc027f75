//! `prompts/list` and `prompts/get`: tools that are prompts, and the prompts of the Library, whose variables are arguments.

use std::collections::BTreeMap;

use agents::{FilledTooLarge, LibraryItem, fill_variables};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, Role,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::library_items::{LibraryItems, read_fields};
use super::library_reads::{ItemReader, ReadTool};
use super::mixed_list::MixedList;
use super::pages::TTL_MS;
use super::tool_prompts;

const GET: ReadTool = ReadTool { name: "prompt_get", id: "prompt_id" };

/// The fields of a prompt that the protocol shows.
#[derive(Deserialize)]
pub struct LibraryPrompt {
    name: String,
    description: Option<String>,
    /// Lists do not read it.
    #[serde(default)]
    content: String,
    #[serde(default)]
    pub variables: Vec<Variable>,
}

/// A variable of a prompt.
#[derive(Deserialize)]
pub struct Variable {
    pub name: String,
    description: Option<String>,
    pub default_value: Option<String>,
    #[serde(default)]
    required: bool,
}

/// Returns one page of the prompts.
pub async fn list(
    list: &MixedList<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let page = list.read_page(request).await?;
    let of_library = page.items.into_iter().map(|item| Ok(LibraryPrompt::of(item)?.render()));
    let prompts = page.tools.into_iter().map(|tool| Ok(tool_prompts::render_prompt(tool))).chain(of_library);
    let result = ListPromptsResult::with_all_items(prompts.collect::<Result<Vec<_>, ErrorData>>()?);
    let result = result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private);
    Ok(ListPromptsResult { next_cursor: page.next_cursor, ..result })
}

/// Returns the text of a prompt with its arguments, as a message of the user.
pub async fn get(
    items: &LibraryItems,
    reader: &ItemReader<'_>,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let GetPromptRequestParams { name, arguments, .. } = request;
    let found = items.find_item(&name).await?.ok_or_else(|| refuse_prompt(&name))?;
    let read = reader.read(&GET, &found.id).await?.ok_or_else(|| refuse_prompt(&name))?;
    let prompt: LibraryPrompt = read_fields(read.data)?;
    let text = prompt.fill_in(&arguments.unwrap_or_default())?;
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = prompt.description;
    result.meta = Some(read.meta);
    Ok(result)
}

/// Refuses the name of a prompt that the user does not have.
pub fn refuse_prompt(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Unknown prompt: {name}"), None)
}

impl LibraryPrompt {
    pub fn of(item: LibraryItem) -> Result<Self, ErrorData> {
        read_fields(Value::Object(item.body))
    }

    fn render(self) -> Prompt {
        let arguments: Vec<_> = self.variables.into_iter().map(Variable::render).collect();
        Prompt::new(self.name, self.description, (!arguments.is_empty()).then_some(arguments))
    }

    /// The content with the values of its variables.
    fn fill_in(&self, arguments: &JsonObject) -> Result<String, ErrorData> {
        let values =
            self.variables.iter().map(|variable| Ok((variable.name.as_str(), variable.find_value(arguments)?)));
        let values = values.collect::<Result<BTreeMap<_, _>, ErrorData>>()?;
        let filled = fill_variables(&self.content, |name| values.get(name).copied());
        filled.map_err(|refused| {
            ErrorData::invalid_params(refused.to_string(), Some(json!({"type": FilledTooLarge::CODE})))
        })
    }
}

impl Variable {
    fn render(self) -> PromptArgument {
        let mut argument = PromptArgument::new(self.name.as_str()).with_required(self.is_required());
        argument.description = self.description;
        argument
    }

    /// A variable with a default never needs an argument.
    const fn is_required(&self) -> bool {
        self.required && self.default_value.is_none()
    }

    /// The argument, or the default. A variable that needs neither is empty.
    fn find_value<'a>(&'a self, arguments: &'a JsonObject) -> Result<&'a str, ErrorData> {
        let refused = |problem: &str| ErrorData::invalid_params(format!("The argument {} {problem}.", self.name), None);
        match arguments.get(&self.name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(refused("should be a string")),
            None if self.is_required() => Err(refused("is missing")),
            None => Ok(self.default_value.as_deref().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_in(arguments: Value) -> Result<String, String> {
        let variables = json!([
            {"name": "customer", "required": true},
            {"name": "tone", "default_value": "short", "required": true},
            {"name": "note", "description": "A remark."},
        ]);
        let content = "To {{customer}}, {{ tone }}: {{note}}{{other}}";
        let prompt = json!({"name": "letter", "content": content, "variables": variables});
        let prompt: LibraryPrompt = serde_json::from_value(prompt).unwrap();
        prompt.fill_in(arguments.as_object().unwrap()).map_err(|error| error.message.into_owned())
    }

    #[test]
    fn a_variable_is_its_argument_or_its_default() {
        assert_eq!(fill_in(json!({"customer": "Ada", "x": 1})).unwrap(), "To Ada, short: {{other}}");
        let all = json!({"customer": "{{note}}", "tone": "long", "note": "hi"});
        assert_eq!(fill_in(all).unwrap(), "To {{note}}, long: hi{{other}}");
        assert_eq!(fill_in(json!({})).unwrap_err(), "The argument customer is missing.");
        assert_eq!(fill_in(json!({"customer": 1})).unwrap_err(), "The argument customer should be a string.");
    }
}
