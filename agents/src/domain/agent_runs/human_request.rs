//! Requests of runs of agents to people: questions, approvals of calls, and forms of tools.

use registry::{AccountId, AgentId, AgentRunId, HumanRequestId, OrganizationId, Timestamp, UserId, named_values};

named_values! {
    /// The kind of a request to a person.
    HumanRequestKind = "kind", "must be question, approval or form" {
        /// The answer to a question of the model, or of a run that is stuck.
        Question = "question",
        /// The permission for a call.
        Approval = "approval",
        /// The values of forms of a tool.
        Form = "form",
    }
}

named_values! {
    /// The state of a request.
    HumanRequestState = "status", "must be open, answered, expired or cancelled" {
        Open = "open",
        Answered = "answered",
        /// Nobody answered in time.
        Expired = "expired",
        /// The run was cancelled.
        Cancelled = "cancelled",
    }
}

named_values! {
    /// How urgent an answer is.
    Urgency = "urgency", "must be low, medium or high" {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// A request of a paused run to a person. The user of the run and administrators see it and answer it; the first answer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanRequest {
    pub id: HumanRequestId,
    pub organization: OrganizationId,
    pub agent_run: AgentRunId,
    pub agent: AgentId,
    /// The user of the run.
    pub account: AccountId,
    pub kind: HumanRequestKind,
    pub urgency: Urgency,
    pub state: HumanRequestState,
    /// The question, as JSON.
    pub document: String,
    /// The answer, as JSON.
    pub response: Option<String>,
    pub answered_by: Option<UserId>,
    pub created_at: Timestamp,
    /// When the run goes on without an answer.
    pub expires_at: Timestamp,
    /// `None` while the request is open.
    pub closed_at: Option<Timestamp>,
}

/// A request that a run makes as it pauses.
#[derive(Clone, Debug)]
pub struct NewHumanRequest {
    pub id: HumanRequestId,
    pub kind: HumanRequestKind,
    pub urgency: Urgency,
    pub document: String,
    pub expires_at: Timestamp,
}

/// The answer to the open request of a run.
#[derive(Clone, Debug)]
pub struct NewHumanResponse {
    pub by: UserId,
    pub document: String,
}

/// The requests that are asked for.
#[derive(Clone, Debug, Default)]
pub struct HumanRequestFilter {
    pub state: Option<HumanRequestState>,
    pub urgency: Option<Urgency>,
    pub agent_run: Option<AgentRunId>,
    /// The last request of the page before.
    pub after: Option<HumanRequestId>,
    pub limit: u32,
}
