//! The source of a run: a conversation, a simulation, a direct call, or the test of a branch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::invocation_mode::InvocationMode;

/// The source of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum InvocationSource {
    RegularConversation {
        user_id: String,
        conversation_id: Option<String>,
        interaction_id: Option<String>,
        invocation_metadata: InvocationMetadata,
    },
    SimulationConversation {
        simulation_unit_test_set_run_id: Option<String>,
        unit_test_id: Option<String>,
        run_index: Option<i64>,
        invocation_metadata: InvocationMetadata,
    },
    /// A call without a conversation.
    Direct { user_id: String },
    /// The test of an unpublished branch.
    BranchTest { user_id: String, commit_branch: String, commit: String },
}

impl InvocationSource {
    /// Returns the kind, which is the `type` in JSON.
    pub const fn kind(&self) -> InvocationSourceKind {
        match self {
            Self::RegularConversation { .. } => InvocationSourceKind::RegularConversation,
            Self::SimulationConversation { .. } => InvocationSourceKind::SimulationConversation,
            Self::Direct { .. } => InvocationSourceKind::Direct,
            Self::BranchTest { .. } => InvocationSourceKind::BranchTest,
        }
    }

    pub fn conversation_id(&self) -> Option<&str> {
        match self {
            Self::RegularConversation { conversation_id, .. } => conversation_id.as_deref(),
            _ => None,
        }
    }

    pub fn interaction_id(&self) -> Option<&str> {
        match self {
            Self::RegularConversation { interaction_id, .. } => interaction_id.as_deref(),
            _ => None,
        }
    }

    pub fn simulation_run_id(&self) -> Option<&str> {
        match self {
            Self::SimulationConversation { simulation_unit_test_set_run_id, .. } => {
                simulation_unit_test_set_run_id.as_deref()
            }
            _ => None,
        }
    }

    /// Returns the user of the conversation, or the caller. The source of a simulation has no user.
    pub fn user_id(&self) -> Option<&str> {
        match self {
            Self::RegularConversation { user_id, .. } | Self::Direct { user_id } | Self::BranchTest { user_id, .. } => {
                Some(user_id)
            }
            Self::SimulationConversation { .. } => None,
        }
    }

    /// Returns the source without the ids of its conversation, for a conversation that was rolled back.
    #[must_use]
    pub fn unlinked(mut self) -> Self {
        match &mut self {
            Self::RegularConversation { conversation_id, interaction_id, .. } => {
                *conversation_id = None;
                *interaction_id = None;
            }
            Self::SimulationConversation { simulation_unit_test_set_run_id, unit_test_id, run_index, .. } => {
                *simulation_unit_test_set_run_id = None;
                *unit_test_id = None;
                *run_index = None;
            }
            Self::Direct { .. } | Self::BranchTest { .. } => {}
        }
        self
    }
}

/// The kinds of [`InvocationSource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InvocationSourceKind {
    RegularConversation,
    SimulationConversation,
    Direct,
    BranchTest,
}

/// The types of a source in the contract. A run outside of a conversation has the type of its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceType {
    RegularConversation,
    SimulationConversation,
}

/// The origin of a run, which the types of the contract do not tell apart. A call through an agent has the protocol's origin,
/// whatever its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A conversation or a simulation that the caller names.
    Conversation,
    /// A call without a conversation.
    Direct,
    /// The test of an unpublished branch.
    BranchTest,
    /// A call through an agent by the Model Context Protocol.
    Mcp,
    /// A call through an agent by the HTTP API.
    Agent,
}

impl SourceType {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RegularConversation => "regular-conversation",
            Self::SimulationConversation => "simulation-conversation",
        }
    }
}

impl Origin {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Direct => "direct",
            Self::BranchTest => "branch-test",
            Self::Mcp => "mcp",
            Self::Agent => "agent",
        }
    }
}

impl InvocationSourceKind {
    pub(crate) const ALL: [Self; 4] =
        [Self::RegularConversation, Self::SimulationConversation, Self::Direct, Self::BranchTest];

    /// Returns the origin of a run without an agent.
    pub const fn origin(self) -> Origin {
        match self {
            Self::RegularConversation | Self::SimulationConversation => Origin::Conversation,
            Self::Direct => Origin::Direct,
            Self::BranchTest => Origin::BranchTest,
        }
    }

    /// Returns the type on the wire of a run in this mode.
    pub const fn source_type(self, mode: InvocationMode) -> SourceType {
        match (self, mode) {
            (Self::RegularConversation, _) | (Self::Direct | Self::BranchTest, InvocationMode::Regular) => {
                SourceType::RegularConversation
            }
            (Self::SimulationConversation, _)
            | (Self::Direct | Self::BranchTest, InvocationMode::ConversationSimulation) => {
                SourceType::SimulationConversation
            }
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RegularConversation => "regular-conversation",
            Self::SimulationConversation => "simulation-conversation",
            Self::Direct => "direct",
            Self::BranchTest => "branch-test",
        }
    }
}

/// The state of the agent's state machine at the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum InvocationMetadata {
    StateTransition {
        current_state_machine_and_version: (String, i64),
        state_name: String,
        state_transition_index: i64,
        tool_call_round_index: i64,
    },
    EngageUser {
        current_state_machine_and_version: (String, i64),
        tool_call_round_index: i64,
    },
    ToolCallState {
        current_state_machine_and_version: (String, i64),
        state_name: String,
    },
}
