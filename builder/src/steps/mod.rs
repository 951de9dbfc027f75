//! The steps of a build, one file each. No step uses the store.

pub mod apis;
pub mod archive;
pub mod bundle;
pub mod child;
pub mod crates;
pub mod dependencies;
pub mod documents;
pub mod download;
pub mod esbuild;
pub mod foreign_locks;
pub mod index_page;
pub mod inspect;
pub mod lock;
pub mod manifest;
pub mod mocks;
pub mod npm;
pub mod schema;
pub mod stand_ins;
pub mod wheel;
mod wheel_choice;
