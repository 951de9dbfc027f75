//! Turns of a conversation. A turn keeps the tools that were presented to the model at its beginning, and calls of the turn are
//! checked against these.

use registry::{
    AgentCall, AgentProtocol, ApiName, ClientName, ConversationId, Digest, InteractionId, InvocationMetadata,
    InvocationMode, InvocationSource, RevisionNumber, SchemaText, Timestamp, TurnId, Version,
};
use serde::{Deserialize, Serialize};

use super::conversation::Conversation;
use crate::domain::agents::{AgentSlug, Assignment, StateType, TurnState};

/// A tool as it was presented to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresentedTool {
    /// The name for models, unique in the turn.
    pub name: String,
    pub version: Version,
    pub component_digest: Digest,
    /// The description of the tool, with the instruction of its specification.
    pub description: String,
    pub input_schema: SchemaText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaText>,
    /// The API of the tool that the name stands for. `None` for a tool of one function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiName>,
    pub spec: Assignment,
}

impl PresentedTool {
    /// Bytes of the presented tools of one turn, as JSON: more than a model reads.
    pub const BYTES_MAX: usize = 8 * 1024 * 1024;

    fn has_id(&self, id: &str) -> bool {
        self.api.is_none() && self.spec.tool_id.as_str() == id
    }
}

/// The input for a turn. What is `None` follows from the turn before.
#[derive(Clone, Debug)]
pub struct NewTurn {
    pub conversation: ConversationId,
    pub agent_slug: AgentSlug,
    pub revision: RevisionNumber,
    pub state: Option<TurnState>,
    pub tools: Vec<PresentedTool>,
    pub place: TurnPlace,
}

/// The place of a turn in its conversation. What is `None` follows from the turn before.
#[derive(Clone, Debug, Default)]
pub struct TurnPlace {
    /// The interaction that goes on. Without one, a new interaction begins.
    pub interaction: Option<InteractionId>,
    pub state_transition_index: Option<u32>,
    pub tool_call_round_index: Option<u32>,
}

/// A turn of a conversation. It never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub id: TurnId,
    pub conversation: Conversation,
    pub interaction: InteractionId,
    pub agent_slug: AgentSlug,
    /// The running revision at the beginning of the turn.
    pub revision: RevisionNumber,
    pub state: Option<TurnState>,
    pub state_transition_index: u32,
    pub tool_call_round_index: u32,
    pub tools: Vec<PresentedTool>,
    pub began_at: Timestamp,
}

impl Turn {
    /// Turns of one conversation. A longer conversation does not fit the context of any model.
    pub const COUNT_MAX: u32 = 10_000;

    /// Finds a presented tool by its name or by its id. Names come first. An API has no id of its own.
    pub fn find(&self, name_or_id: &str) -> Option<&PresentedTool> {
        let by_name = self.tools.iter().find(|tool| tool.name == name_or_id);
        by_name.or_else(|| self.tools.iter().find(|tool| tool.has_id(name_or_id)))
    }

    /// Returns the source of the turn's runs.
    pub fn source(&self) -> InvocationSource {
        let (conversation, invocation_metadata) = (&self.conversation, self.build_metadata());
        match conversation.mode {
            InvocationMode::Regular => InvocationSource::RegularConversation {
                user_id: conversation.account.user().into(),
                conversation_id: Some(conversation.id.to_string()),
                interaction_id: Some(self.interaction.to_string()),
                invocation_metadata,
            },
            InvocationMode::ConversationSimulation => InvocationSource::SimulationConversation {
                simulation_unit_test_set_run_id: conversation.simulation.unit_test_set_run_id.clone(),
                unit_test_id: conversation.simulation.unit_test_id.clone(),
                run_index: conversation.simulation.run_index,
                invocation_metadata,
            },
        }
    }

    /// Returns the agent of the turn's runs, for their record.
    pub fn agent_call(&self, protocol: AgentProtocol, client: Option<ClientName>) -> AgentCall {
        let (agent, revision) = (self.conversation.agent.clone(), self.revision);
        AgentCall { agent, revision, protocol, client, turn: Some(self.id.clone()) }
    }

    /// The state machine is the agent, and its version is the revision.
    fn build_metadata(&self) -> InvocationMetadata {
        let current_state_machine_and_version = (self.agent_slug.to_string(), self.revision.get().into());
        let tool_call_round_index = self.tool_call_round_index.into();
        match &self.state {
            None => InvocationMetadata::EngageUser { current_state_machine_and_version, tool_call_round_index },
            Some(TurnState { name, state_type: StateType::ToolCall, .. }) => {
                InvocationMetadata::ToolCallState { current_state_machine_and_version, state_name: name.to_string() }
            }
            Some(TurnState { name, .. }) => InvocationMetadata::StateTransition {
                current_state_machine_and_version,
                state_name: name.to_string(),
                state_transition_index: self.state_transition_index.into(),
                tool_call_round_index,
            },
        }
    }
}

/// The start and the end of a run of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStatus {
    pub started_at: Timestamp,
    /// `None` while the run goes on.
    pub end: Option<RunStatusEnd>,
}

/// The end of a run of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStatusEnd {
    pub succeeded: bool,
    pub duration_ms: u64,
}
