//! Vectors of texts: two texts that mean the same have vectors that point the same way.
//!
//! An [`Embedder`] makes them: [`HttpEmbedder`] asks an endpoint, [`StaticEmbedder`] has a table of tokens, and [`CorpusModel`] learns from
//! the texts of an organisation.

mod corpus;
mod embedder;
mod http;
mod ngrams;
mod static_model;
mod token_table;
mod unusable;
mod vector;
mod word_pieces;

pub(crate) use corpus::{CORPUS_FORMAT, CorpusModel, LEARNED_TEXTS_MAX};
pub(crate) use embedder::EMBEDDED_BYTES_MAX;
pub use embedder::{EmbedFailure, Embedder};
pub use http::{HttpEmbedder, HttpEmbedderOptions};
pub use static_model::StaticEmbedder;
pub use vector::Vector;
