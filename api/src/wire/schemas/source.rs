//! The schemas of the origin and the mode of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The origin of a run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::InvocationSource", tag = "type", rename_all = "kebab-case")]
pub(crate) enum InvocationSource {
    RegularConversation {
        user_id: String,
        conversation_id: Option<String>,
        interaction_id: Option<String>,
        #[schemars(with = "InvocationMetadata")]
        invocation_metadata: registry::InvocationMetadata,
    },
    SimulationConversation {
        simulation_unit_test_set_run_id: Option<String>,
        unit_test_id: Option<String>,
        run_index: Option<i64>,
        #[schemars(with = "InvocationMetadata")]
        invocation_metadata: registry::InvocationMetadata,
    },
    /// A call without a conversation.
    Direct { user_id: String },
    /// The test of an unpublished branch.
    BranchTest { user_id: String, commit_branch: String, commit: String },
}

/// State of the agent when it called the tool.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::InvocationMetadata", tag = "type", rename_all = "kebab-case")]
pub(crate) enum InvocationMetadata {
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

/// The mode of a run. A simulation has no effects outside.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::InvocationMode", rename_all = "kebab-case")]
pub(crate) enum InvocationMode {
    Regular,
    ConversationSimulation,
}
