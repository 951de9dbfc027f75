//! Tools as prompts: their texts are arguments, and their content is that of the messages.

use agents::ListedTool;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

use super::tool_forms::Read;
use crate::calls::{Asked, Calling, ToolCallRequest, find_title, fit_version};

/// Renders a tool as a prompt. The arguments are those of its input schema that may be texts.
pub fn render_prompt(listed: &ListedTool) -> Prompt {
    let schema = listed.model_input_schema();
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let arguments: Vec<_> = properties
        .filter(|(_, schema)| is_text(schema))
        .map(|(name, schema)| {
            let mut argument = PromptArgument::new(name.as_str()).with_required(is_required(name));
            argument.description = schema["description"].as_str().map(ToOwned::to_owned);
            argument
        })
        .collect();
    let mut prompt =
        Prompt::new(listed.name.as_str(), Some(listed.description()), (!arguments.is_empty()).then_some(arguments));
    prompt.title = find_title(listed);
    prompt
}

/// Calls the tool, and returns its content as messages of the user.
pub async fn get(
    calling: &Calling,
    listed: &ListedTool,
    request: GetPromptRequestParams,
    asked: Asked,
) -> Result<GetPromptResponse, ErrorData> {
    let call = ToolCallRequest {
        name: listed.name.clone(),
        arguments: request.arguments.unwrap_or_default().into(),
        state: request.request_state,
        responses: request.input_responses,
    };
    let version = asked.context.protocol_version();
    match calling.read(listed, call, asked).await? {
        Read::Asks(questions) => Ok(questions.into()),
        Read::Done(mut result) => {
            fit_version(&mut result.content, version.as_ref());
            let messages = result.content.into_iter().map(|block| PromptMessage::new(Role::User, block));
            let mut prompt = GetPromptResult::new(messages.collect());
            prompt.description = Some(listed.description());
            prompt.meta = result.meta;
            Ok(prompt.into())
        }
    }
}

/// The values of an argument that its schema lists.
pub fn find_values(listed: &ListedTool, argument: &str) -> Option<Vec<String>> {
    let schema = listed.model_input_schema();
    let schema = schema["properties"].get(argument).filter(|schema| is_text(schema))?;
    let values = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Some(values.map(ToOwned::to_owned).collect())
}

/// Whether a schema accepts texts, as far as its `type` says.
fn is_text(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(kind) => kind == "string",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
        _ => true,
    }
}
