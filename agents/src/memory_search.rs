//! Searches in the memories of one scope, in memory: by their words, by their vectors, and both results as one.

mod fusion;
mod index_cache;
mod scope_index;
mod text_index;

pub(crate) use index_cache::{IndexCache, MEMORY_INDICES, SharedIndex};
pub(crate) use scope_index::{FoundMemory, IndexChange, IndexedMemory, Wanted};
