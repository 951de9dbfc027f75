//! The interface of what makes vectors.

use std::fmt;

use futures_util::future::BoxFuture;

use super::vector::Vector;

/// Bytes of a text of which a vector is made: some thousand tokens, which models accept.
pub(crate) const EMBEDDED_BYTES_MAX: usize = 8 * 1024;

/// Makes vectors of texts.
pub trait Embedder: fmt::Debug + Send + Sync {
    /// The kind of the embedder, as results of searches name it.
    fn kind(&self) -> &'static str;

    /// The model. Vectors are stored with it, and made again when it changes.
    fn model_id(&self) -> String;

    /// Whether vectors of a stored model can be compared with those of this one.
    fn reads(&self, model_id: &str) -> bool {
        model_id == self.model_id()
    }

    /// The cosine from which two texts count as similar.
    fn similarity_min(&self) -> f32;

    /// Makes one vector for each text, of at most 8 KiB; `None` for a text without meaning, such as an empty one.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Option<Vector>>, EmbedFailure>>;
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedFailure {
    /// A repeated request gets the same answer.
    #[error("the texts were refused: {reason}")]
    Refused { reason: String },
    #[error("{reason}")]
    Unavailable { reason: String },
}
