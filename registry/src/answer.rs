//! Answers that a tool's requests got, as the store keeps them for simulations: sealed bytes whose form is the runner's.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::ToolId;

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardAnswer {
    /// SHA-256 of the request.
    pub request: [u8; 32],
    pub bytes: Vec<u8>,
    pub at: Timestamp,
}

/// What [`crate::Store::seal_answers`] made, on its way into the store with the record of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewAnswers {
    pub(crate) tool: ToolId,
    pub(crate) sealed: Vec<SealedAnswer>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SealedAnswer {
    /// Keyed by organisation and tool.
    pub request: [u8; 32],
    pub sealed: Vec<u8>,
    pub heard_at: Timestamp,
}
