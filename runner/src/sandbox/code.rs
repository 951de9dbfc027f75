//! Components, and compiled code: what is read from their bytes, and where this node keeps them.

mod cache;
pub(crate) mod component_memory;
mod store;
pub(crate) mod structure;

pub use cache::CodeCache;
pub use store::{CodeStore, NativeCode};
