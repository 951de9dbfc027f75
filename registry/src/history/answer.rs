//! Recorded answers: responses to a tool's requests, stored for simulations as sealed bytes. The runner defines the format.

use crate::kit::clock::Timestamp;
use crate::kit::ids::ToolId;

/// A response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// SHA-256 of the request.
    pub request: [u8; 32],
    pub bytes: Vec<u8>,
    pub at: Timestamp,
}

/// Sealed answers by [`crate::History::seal_answers`], to be stored with the record of a run.
#[derive(Clone, Debug)]
pub struct NewAnswers {
    pub(crate) tool: ToolId,
    pub(crate) sealed: Vec<SealedAnswer>,
}

#[derive(Clone, Debug)]
pub(crate) struct SealedAnswer {
    /// Digest of the request, keyed by organisation and tool.
    pub request: [u8; 32],
    pub sealed: Vec<u8>,
    pub heard_at: Timestamp,
}
