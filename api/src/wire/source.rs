//! The source of a run, in the two forms of the contract.

use registry::{InvocationMetadata, InvocationMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The source of a run. A run outside of a conversation has null for all ids; `origin` tells what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum InvocationSource {
    RegularConversation {
        /// The user of the conversation, or the caller of a run outside of one.
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
    /// A source that a later release added.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Value),
}

impl InvocationSource {
    /// A run outside of a conversation has the form of a conversation without ids, with an empty state machine.
    pub(super) fn of(source: registry::InvocationSource, mode: InvocationMode) -> Self {
        let user_id = match source {
            registry::InvocationSource::RegularConversation {
                user_id,
                conversation_id,
                interaction_id,
                invocation_metadata,
            } => return Self::RegularConversation { user_id, conversation_id, interaction_id, invocation_metadata },
            registry::InvocationSource::SimulationConversation {
                simulation_unit_test_set_run_id,
                unit_test_id,
                run_index,
                invocation_metadata,
            } => {
                return Self::SimulationConversation {
                    simulation_unit_test_set_run_id,
                    unit_test_id,
                    run_index,
                    invocation_metadata,
                };
            }
            registry::InvocationSource::Direct { user_id } | registry::InvocationSource::BranchTest { user_id, .. } => {
                user_id
            }
        };
        let invocation_metadata = InvocationMetadata::EngageUser {
            current_state_machine_and_version: (String::new(), 0),
            tool_call_round_index: 0,
        };
        match mode {
            InvocationMode::Regular => {
                Self::RegularConversation { user_id, conversation_id: None, interaction_id: None, invocation_metadata }
            }
            InvocationMode::ConversationSimulation => Self::SimulationConversation {
                simulation_unit_test_set_run_id: None,
                unit_test_id: None,
                run_index: None,
                invocation_metadata,
            },
        }
    }
}
