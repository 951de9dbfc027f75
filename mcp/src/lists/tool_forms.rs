//! Tools that MCP clients find as prompts or resources, too. Reading one is a call of the tool, like every other call.

use agents::{Catalogue, ListedSource, ListedTool};
use registry::{InvokeStep, McpSettings, ResourceUri};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, InputRequiredResult};
use serde_json::json;

use crate::calls::{Asked, Calling, ERROR, ToolCallRequest};

/// The end of a call of a tool as another form.
pub enum Read {
    Done(CallToolResult),
    /// The tool asks something first.
    Asks(InputRequiredResult),
}

impl Calling {
    /// Calls a tool for its prompt or its resource. A failure of the tool is an error.
    pub async fn read(&self, listed: &ListedTool, request: ToolCallRequest, asked: Asked) -> Result<Read, ErrorData> {
        match self.call(listed.clone(), request, asked).await? {
            CallToolResponse::Complete(result) if result.is_error == Some(true) => Err(explain_failure(&result)),
            CallToolResponse::Complete(result) => Ok(Read::Done(result)),
            CallToolResponse::InputRequired(questions) => Ok(Read::Asks(questions)),
            _ => Err(ErrorData::internal_error("the call has no result", None)),
        }
    }
}

/// The error of a call that failed. What the client can mend, such as an argument, is an error of its request.
fn explain_failure(result: &CallToolResult) -> ErrorData {
    let text = result.content.first().and_then(|block| block.as_text()).map_or("the tool failed", |text| &text.text);
    let error = result.meta.as_ref().and_then(|meta| meta.get(ERROR)).cloned();
    let is_refused = error.as_ref().is_some_and(|error| error["refused_at"] == json!(InvokeStep::Validate));
    match is_refused {
        true => ErrorData::invalid_params(text.to_owned(), error),
        false => ErrorData::internal_error(text.to_owned(), error),
    }
}

/// The tools that are prompts, too.
pub fn list_prompts(catalogue: &Catalogue) -> Vec<&ListedTool> {
    catalogue.tools.iter().filter(|listed| find_forms(listed).is_some_and(|forms| forms.prompt)).collect()
}

/// The tools that read resources.
pub fn list_resources(catalogue: &Catalogue) -> Vec<&ListedTool> {
    catalogue.tools.iter().filter(|listed| find_resource(listed).is_some()).collect()
}

/// The resource that a tool reads.
pub fn find_resource(listed: &ListedTool) -> Option<&ResourceUri> {
    find_forms(listed)?.resource.as_ref()
}

fn find_forms(listed: &ListedTool) -> Option<&McpSettings> {
    match &listed.source {
        ListedSource::Native(_) => None,
        ListedSource::Published { callable, .. } => Some(&callable.version.settings.mcp),
    }
}
