//! The refusal of a model's files.

use crate::error::Error;

/// The refusal of a model.
pub(super) fn unusable(detail: impl Into<String>) -> Error {
    Error::Corrupt { what: "model for embeddings", detail: detail.into() }
}
