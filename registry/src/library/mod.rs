//! The Library: items of users and their agents, and searches in memories.

mod download;
mod embeddings;
mod item;
mod memory_search;

pub use download::DownloadToken;
pub(crate) use download::{Download, LIFETIME};
pub(crate) use embeddings::{CORPUS_FORMAT, CorpusModel, EMBEDDED_BYTES_MAX, LEARNED_TEXTS_MAX};
pub use embeddings::{EmbedFailure, Embedder, HttpEmbedder, HttpEmbedderOptions, Vector};
pub(crate) use item::require_no_nul;
pub use item::{
    LibraryContent, LibraryFamily, LibraryFilter, LibraryItem, LibraryRange, LibraryScope, MemoryResult, MemoryResults,
    Provenance,
};
pub use memory_search::MatchedBy;
pub(crate) use memory_search::{
    FoundMemory, IndexCache, IndexChange, IndexedMemory, MEMORY_INDICES, SharedIndex, Wanted,
};
