//! The Library: items of users and their agents.

mod download;
mod item;

pub use download::DownloadToken;
pub(crate) use download::{Download, LIFETIME};
pub(crate) use item::require_no_nul;
pub use item::{
    LibraryContent, LibraryFamily, LibraryFilter, LibraryItem, LibraryRange, LibraryScope, MatchedBy, MemoryResult,
    MemoryResults, Provenance,
};
