//! Conversations with agents.

use registry::{AgentId, ConversationId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A conversation of one user with an agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    pub id: ConversationId,
    pub agent_id: AgentId,
    /// The user who started the conversation.
    pub user_id: String,
    /// `regular` or `conversation-simulation`.
    pub mode: String,
    #[schemars(extend("pattern" = "^[a-f0-9]{24}$"))]
    pub simulation_unit_test_set_run_id: Option<String>,
    #[schemars(extend("pattern" = "^[a-f0-9]{24}$"))]
    pub unit_test_id: Option<String>,
    pub run_index: Option<i64>,
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Null until the end.
    #[schemars(extend("format" = "date-time"))]
    pub ended_at: Option<String>,
}

/// An example of a conversation, for the OpenAPI document.
pub(crate) fn conversation_example() -> Value {
    json!({
        "id": "691f3d015c1e4d7f8a9b0c20", "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "user_id": "ann", "mode": "regular",
        "simulation_unit_test_set_run_id": null, "unit_test_id": null, "run_index": null,
        "started_at": "2026-11-20T21:40:11.000Z", "ended_at": null,
    })
}

impl From<agents::Conversation> for Conversation {
    fn from(conversation: agents::Conversation) -> Self {
        let agents::Conversation { id, agent, account, mode, simulation, started_at, ended_at, .. } = conversation;
        Self {
            id,
            agent_id: agent,
            user_id: account.user().into(),
            mode: mode.as_str().to_owned(),
            simulation_unit_test_set_run_id: simulation.unit_test_set_run_id,
            unit_test_id: simulation.unit_test_id,
            run_index: simulation.run_index,
            started_at: started_at.to_string(),
            ended_at: ended_at.map(|time| time.to_string()),
        }
    }
}
