//! A request to a person.

use agents::{HumanForm, HumanRequestDetails, HumanResponse};
use registry::HumanRequest;
use runner::ConfirmedCall;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::wire::schemas;

/// A request of a run of an agent to a person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HumanRequest")]
pub(crate) struct Shown {
    #[schemars(with = "schemas::Id")]
    human_request_id: String,
    #[schemars(with = "schemas::Id")]
    agent_run_id: String,
    #[schemars(with = "schemas::Id")]
    agent_id: String,
    /// The user of the run.
    user_id: String,
    /// `question`; `approval`: a call of `tool` needs a permission; or `form`: `tool` needs the values of `forms`.
    kind: &'static str,
    /// `low`, `medium` or `high`.
    urgency: &'static str,
    /// `open`, `answered`, `expired` or `cancelled`.
    status: &'static str,
    question: String,
    /// Choices of a question. Other answers are taken, too.
    options: Vec<String>,
    context_summary: Option<String>,
    tool: Option<String>,
    /// The call for which an approval asks. The approval is for this call alone: if another version of the tool is published, or
    /// the agent is deployed again, before the call is made, a new request asks again. Null for other kinds.
    call: Option<Call>,
    /// How the call differs from the one that was approved before; null for a first request.
    changes: Option<String>,
    forms: Vec<Form>,
    /// Null until somebody has answered.
    response: Option<Response>,
    answered_by: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// When the run goes on without an answer.
    #[schemars(extend("format" = "date-time"))]
    expires_at: String,
    /// Null while the request is open.
    #[schemars(extend("format" = "date-time"))]
    closed_at: Option<String>,
}

/// A form of a tool.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HumanRequestForm")]
struct Form {
    /// The name of the form in the answer.
    key: String,
    message: String,
    /// The JSON schema of the values.
    schema: Value,
}

/// The call of a tool that a person approves.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HumanRequestCall")]
struct Call {
    /// Null for a tool of the server.
    tool_id: Option<String>,
    tool_version: Option<String>,
    /// The digest of the code that runs.
    component_digest: Option<String>,
    /// The SHA-256 digest of the arguments as JSON.
    arguments_digest: String,
    /// The revision of the agent.
    agent_revision: Option<u32>,
}

/// The answer of a person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HumanRequestResponse")]
struct Response {
    human_input: Option<String>,
    approved: Option<bool>,
    forms: Option<Map<String, Value>>,
}

impl Shown {
    pub(super) fn of(request: HumanRequest) -> Result<Self, Error> {
        let details = HumanRequestDetails::read(&request.document)?;
        let response = request.response.as_deref().map(HumanResponse::read).transpose()?;
        Ok(Self {
            human_request_id: request.id.into(),
            agent_run_id: request.agent_run.into(),
            agent_id: request.agent.into(),
            user_id: request.account.user().into(),
            kind: request.kind.as_str(),
            urgency: request.urgency.as_str(),
            status: request.state.as_str(),
            question: details.question,
            options: details.options,
            context_summary: details.context_summary,
            tool: details.tool,
            call: details.call.map(Call::from),
            changes: details.changes,
            forms: details.forms.into_iter().map(Form::from).collect(),
            response: response.map(Response::from),
            answered_by: request.answered_by.map(String::from),
            created_at: request.created_at.to_string(),
            expires_at: request.expires_at.to_string(),
            closed_at: request.closed_at.map(|time| time.to_string()),
        })
    }

    /// An example of a request, for the OpenAPI document.
    pub(super) fn example() -> Value {
        json!({
            "human_request_id": "691f3d1a5c1e4d7f8a9b0c22", "agent_run_id": "691f3d015c1e4d7f8a9b0c20",
            "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "user_id": "ada", "kind": "question", "urgency": "medium", "status": "open",
            "question": "Which John Smith?", "options": ["C-001", "C-047"], "context_summary": "A refund.", "tool": null,
            "call": null, "changes": null, "forms": [], "response": null, "answered_by": null, "created_at": "2026-11-20T21:40:14.000Z",
            "expires_at": "2026-11-27T21:40:14.000Z", "closed_at": null,
        })
    }
}

impl From<ConfirmedCall> for Call {
    fn from(call: ConfirmedCall) -> Self {
        Self {
            tool_id: call.tool_id.map(String::from),
            tool_version: call.version.map(|version| version.to_string()),
            component_digest: call.component_digest.map(|digest| digest.to_string()),
            arguments_digest: call.arguments_digest.to_string(),
            agent_revision: call.decider.map(|decider| decider.revision.get()),
        }
    }
}

impl From<HumanForm> for Form {
    fn from(HumanForm { key, message, schema }: HumanForm) -> Self {
        Self { key, message, schema }
    }
}

impl From<HumanResponse> for Response {
    fn from(HumanResponse { human_input, approved, forms }: HumanResponse) -> Self {
        Self { human_input, approved, forms }
    }
}
