//! The agent through which a tool was called, in a record.

use registry::ClientName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schemas;

/// The agent through which a tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCall {
    #[schemars(with = "schemas::Id")]
    pub agent_id: String,
    /// The running revision at the call.
    pub revision: u32,
    /// `mcp` or `rest`.
    pub protocol: String,
    /// The name and the version of the MCP client, as it gives them.
    #[schemars(length(min = 1, max = ClientName::BYTES_MAX))]
    pub client: Option<String>,
    /// The turn of a conversation with the agent.
    #[schemars(with = "Option<schemas::Id>")]
    pub turn_id: Option<String>,
}

impl From<registry::AgentCall> for AgentCall {
    fn from(call: registry::AgentCall) -> Self {
        Self {
            agent_id: call.agent.into(),
            revision: call.revision.get(),
            protocol: call.protocol.as_str().to_owned(),
            client: call.client.map(String::from),
            turn_id: call.turn.map(String::from),
        }
    }
}
