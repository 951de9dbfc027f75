//! An artifact that `lathe gc` may delete.

use crate::kit::digest::Digest;

/// An artifact that no version refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedArtifact {
    pub digest: Digest,
    pub bytes: u64,
}
