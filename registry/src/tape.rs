//! The tape of a run as the store keeps it: sealed bytes whose form is the runner's, and larger bodies beside them.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// A tape on its way into the store, with the record of its run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum NewTape {
    /// It grew over its bound.
    Cut,
    Whole(SealedTape),
}

impl NewTape {
    pub(crate) fn sealed_bytes(&self) -> usize {
        match self {
            Self::Cut => 0,
            Self::Whole(tape) => tape.sealed.len() + tape.bodies.iter().map(|body| body.sealed.len()).sum::<usize>(),
        }
    }
}

/// What [`crate::Store::seal_tape`] made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SealedTape {
    pub(crate) sealed: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) bodies: Vec<SealedBody>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SealedBody {
    /// Keyed by the organisation.
    pub digest: [u8; 32],
    pub sealed: Vec<u8>,
    pub size: u64,
}

/// A body that is kept once for an organisation, whoever has it on its tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeBody {
    /// SHA-256.
    pub digest: [u8; 32],
    pub bytes: Vec<u8>,
}

/// A tape as it is kept, opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptTape {
    Cut,
    Whole(Zeroizing<Vec<u8>>),
}
