//! The origin of a run: a conversation, a simulation, a direct call, or the test of a branch.

use serde::{Deserialize, Serialize};

/// The origin of a run.
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

impl InvocationSourceKind {
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
