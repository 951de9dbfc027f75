//! Conversations of users with agents.

use registry::{AccountId, AgentId, ConversationId, InvocationMode, OrganizationId, Timestamp};

/// The input for starting a conversation. The caller is its user.
#[derive(Clone, Debug)]
pub struct NewConversation {
    pub agent: AgentId,
    pub mode: InvocationMode,
    pub simulation: Simulation,
}

/// The simulation that a conversation belongs to. A conversation in the mode `regular` has no ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
    pub unit_test_set_run_id: Option<String>,
    pub unit_test_id: Option<String>,
    pub run_index: Option<i64>,
}

/// A conversation of one user with one agent. Only the user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: ConversationId,
    pub organization: OrganizationId,
    pub agent: AgentId,
    pub account: AccountId,
    pub mode: InvocationMode,
    pub simulation: Simulation,
    pub started_at: Timestamp,
    /// An ended conversation has no more turns and calls.
    pub ended_at: Option<Timestamp>,
}
