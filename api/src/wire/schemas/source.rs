//! The schemas of the source, the origin and the mode of a run, and of the steps of a call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of a run. A run outside of a conversation has null for all ids; `origin` tells what it was.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum InvocationSource {
    RegularConversation {
        /// The user of the conversation, or the caller of a run outside of one.
        user_id: String,
        conversation_id: Option<String>,
        interaction_id: Option<String>,
        #[serde(with = "InvocationMetadata")]
        #[schemars(with = "InvocationMetadata")]
        invocation_metadata: registry::InvocationMetadata,
    },
    SimulationConversation {
        simulation_unit_test_set_run_id: Option<String>,
        unit_test_id: Option<String>,
        run_index: Option<i64>,
        #[serde(with = "InvocationMetadata")]
        #[schemars(with = "InvocationMetadata")]
        invocation_metadata: registry::InvocationMetadata,
    },
}

/// The origin of a run: a conversation that the caller names, a call without one, the test of an unpublished branch, or a call
/// through an agent by the Model Context Protocol or by the HTTP API.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Origin", rename_all = "kebab-case")]
pub(crate) enum Origin {
    Conversation,
    Direct,
    BranchTest,
    Mcp,
    Agent,
}

/// A step of a call.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::InvokeStep", rename_all = "kebab-case")]
pub(crate) enum InvokeStep {
    Resolve,
    Permit,
    Validate,
    Once,
    Mode,
    Policy,
    Intervene,
    Reserve,
    Execute,
    Shape,
    Verdict,
    Record,
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
