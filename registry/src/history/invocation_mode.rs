//! The mode of a run: regular, or the simulation of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mode of a run. A simulation has no effects outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InvocationMode {
    Regular,
    ConversationSimulation,
}

impl InvocationMode {
    pub const ALL: [Self; 2] = [Self::Regular, Self::ConversationSimulation];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::ConversationSimulation => "conversation-simulation",
        }
    }
}
