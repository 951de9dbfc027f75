//! Requests of runs of agents to people.

use agents::{HumanForm, HumanRequestDetails, HumanResponse};
use registry::{AgentId, AgentRunId, HumanRequestId};
use runner::ConfirmedCall;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A request of a run of an agent to a person.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HumanRequest {
    pub human_request_id: HumanRequestId,
    pub agent_run_id: AgentRunId,
    pub agent_id: AgentId,
    /// The user of the run.
    pub user_id: String,
    /// `question`; `approval`: a call of `tool` needs a permission; or `form`: `tool` needs the values of `forms`.
    pub kind: String,
    /// `low`, `medium` or `high`.
    pub urgency: String,
    /// `open`, `answered`, `expired` or `cancelled`.
    pub status: String,
    pub question: String,
    /// Choices of a question. Other answers are taken, too.
    pub options: Vec<String>,
    pub context_summary: Option<String>,
    pub tool: Option<String>,
    /// The call for which an approval asks. The approval is for this call alone: if another version of the tool is published, or
    /// the agent is deployed again, before the call is made, a new request asks again. Null for other kinds.
    pub call: Option<HumanRequestCall>,
    /// How the call differs from the one that was approved before; null for a first request.
    pub changes: Option<String>,
    pub forms: Vec<HumanForm>,
    /// Null until somebody has answered.
    pub response: Option<HumanResponse>,
    pub answered_by: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// When the run goes on without an answer.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
    /// Null while the request is open.
    #[schemars(extend("format" = "date-time"))]
    pub closed_at: Option<String>,
}

/// The call of a tool that a person approves.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HumanRequestCall {
    /// Null for a tool of the server.
    pub tool_id: Option<String>,
    pub tool_version: Option<String>,
    /// The digest of the code that runs.
    pub component_digest: Option<String>,
    /// The SHA-256 digest of the arguments as JSON.
    pub arguments_digest: String,
    /// The revision of the agent.
    pub agent_revision: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HumanRequestList {
    pub human_requests: Vec<HumanRequest>,
    /// Whether there are more; the next page is `after` the last request of this one.
    pub has_more: bool,
}

impl TryFrom<agents::HumanRequest> for HumanRequest {
    type Error = agents::Error;

    /// Fails when a stored document is damaged.
    fn try_from(request: agents::HumanRequest) -> Result<Self, agents::Error> {
        let details = HumanRequestDetails::read(&request.document)?;
        Ok(Self {
            human_request_id: request.id,
            agent_run_id: request.agent_run,
            agent_id: request.agent,
            user_id: request.account.user().into(),
            kind: request.kind.as_str().to_owned(),
            urgency: request.urgency.as_str().to_owned(),
            status: request.state.as_str().to_owned(),
            question: details.question,
            options: details.options,
            context_summary: details.context_summary,
            tool: details.tool,
            call: details.call.map(HumanRequestCall::from),
            changes: details.changes,
            forms: details.forms,
            response: request.response.as_deref().map(HumanResponse::read).transpose()?,
            answered_by: request.answered_by.map(String::from),
            created_at: request.created_at.to_string(),
            expires_at: request.expires_at.to_string(),
            closed_at: request.closed_at.map(|time| time.to_string()),
        })
    }
}

impl From<ConfirmedCall> for HumanRequestCall {
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

/// An example of a request, for the OpenAPI document.
pub(crate) fn human_request_example() -> Value {
    json!({
        "human_request_id": "691f3d1a5c1e4d7f8a9b0c22", "agent_run_id": "691f3d015c1e4d7f8a9b0c20",
        "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "user_id": "ada", "kind": "question", "urgency": "medium", "status": "open",
        "question": "Which John Smith?", "options": ["C-001", "C-047"], "context_summary": "A refund.", "tool": null,
        "call": null, "changes": null, "forms": [], "response": null, "answered_by": null, "created_at": "2026-11-20T21:40:14.000Z",
        "expires_at": "2026-11-27T21:40:14.000Z", "closed_at": null,
    })
}
