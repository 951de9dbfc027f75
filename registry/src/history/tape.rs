//! The tape of a run, as it is stored: sealed bytes, and larger bodies beside them. The runner defines the format.

use zeroize::Zeroizing;

use crate::kit::digest::Digest;

/// A tape to be stored with the record of its run.
#[derive(Clone, Debug)]
pub enum NewTape {
    /// The tape exceeded its limit and is incomplete.
    Cut,
    Whole(SealedTape),
}

/// A tape sealed by [`crate::History::seal_tape`].
#[derive(Clone, Debug)]
pub struct SealedTape {
    pub(crate) sealed: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) bodies: Vec<SealedBody>,
}

#[derive(Clone, Debug)]
pub(crate) struct SealedBody {
    /// Digest of the body, keyed by organisation.
    pub digest: [u8; 32],
    /// Empty when the storage has the body.
    pub sealed: Vec<u8>,
    pub size: u64,
    /// The object that has the sealed bytes. A row has them otherwise.
    pub object: Option<Digest>,
}

/// The place of a stored body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyPlace {
    /// A row with the sealed bytes.
    Row(Vec<u8>),
    /// An object of the storage, named by the digest of the sealed bytes.
    Object(Digest),
}

/// The tape of a run before it is sealed.
#[derive(Clone, Debug)]
pub struct UnsealedTape {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) bodies: Vec<TapeBody>,
}

impl UnsealedTape {
    pub fn new(bytes: Vec<u8>, bodies: Vec<TapeBody>) -> Self {
        Self { bytes: Zeroizing::new(bytes), bodies }
    }
}

/// A body, stored once per organisation for all tapes that contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeBody {
    /// SHA-256 of the body.
    pub digest: [u8; 32],
    pub bytes: Vec<u8>,
}

/// A stored tape, opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptTape {
    Cut,
    Whole(Zeroizing<Vec<u8>>),
}
