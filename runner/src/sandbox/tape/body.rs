//! Bytes that a run sent or received, as a tape keeps them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes of a run: in full, or only as SHA-256 and length where no replay needs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Body {
    Whole(Box<[u8]>),
    Digest(Box<([u8; 32], u64)>),
}

impl Body {
    pub(crate) fn whole(bytes: &[u8]) -> Self {
        Self::Whole(bytes.into())
    }

    pub(crate) fn digest(bytes: &[u8]) -> Self {
        Self::Digest(Box::new((Sha256::digest(bytes).into(), bytes.len() as u64)))
    }

    pub(super) const fn length(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Digest(body) => body.1,
        }
    }

    /// Heap memory that the tape holds for these bytes.
    pub(super) const fn heap_bytes(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Digest(_) => size_of::<([u8; 32], u64)>(),
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => formatter.write_str(&String::from_utf8_lossy(bytes)),
            Self::Digest(body) => write!(formatter, "{} bytes with SHA-256 {}", body.1, hex::encode(body.0)),
        }
    }
}
