//! A client's request for a call of a tool.

use std::collections::BTreeMap;

use registry::RawJson;
use rmcp::model::CallToolRequestParams;
use serde_json::Value;

use super::dialogue::Returned;

/// A request for a call. Its arguments stay text: the request waits for as long as the call.
pub struct ToolCallRequest {
    pub name: String,
    /// An object.
    pub arguments: RawJson,
    pub state: Option<String>,
    pub responses: Option<BTreeMap<String, Value>>,
}

impl ToolCallRequest {
    /// Takes the state and the answers of an earlier attempt.
    pub fn take_returned(&mut self) -> Returned {
        Returned { state: self.state.take(), responses: self.responses.take() }
    }
}

impl From<CallToolRequestParams> for ToolCallRequest {
    fn from(request: CallToolRequestParams) -> Self {
        Self {
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default().into(),
            state: request.request_state,
            responses: request.input_responses,
        }
    }
}
