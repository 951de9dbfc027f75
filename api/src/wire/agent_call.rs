//! The agent through which a tool was called, in a record.

use registry::{AgentId, ClientName, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The agent through which a tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCall {
    pub agent_id: AgentId,
    /// The running revision at the call.
    pub revision: u32,
    /// `mcp` or `rest`.
    pub protocol: String,
    /// The name and the version of the MCP client, as it gives them.
    #[schemars(length(min = 1, max = ClientName::BYTES_MAX))]
    pub client: Option<String>,
    /// The turn of a conversation with the agent.
    pub turn_id: Option<TurnId>,
}

impl From<registry::AgentCall> for AgentCall {
    fn from(call: registry::AgentCall) -> Self {
        Self {
            agent_id: call.agent,
            revision: call.revision.get(),
            protocol: call.protocol.as_str().to_owned(),
            client: call.client.map(String::from),
            turn_id: call.turn,
        }
    }
}
