//! Vectors of texts: two texts that mean the same have vectors that point the same way.
//!
//! An [`Embedder`] makes them: [`HttpEmbedder`] asks an endpoint, and [`CorpusModel`] learns from the texts of an organisation.

mod corpus;
mod embedder;
mod http;
mod ngrams;
mod vector;

pub(crate) use corpus::{CORPUS_FORMAT, CorpusModel, LEARNED_TEXTS_MAX};
pub(crate) use embedder::EMBEDDED_BYTES_MAX;
pub use embedder::{EmbedFailure, Embedder};
pub use http::{HttpEmbedder, HttpEmbedderOptions};
pub use vector::Vector;
