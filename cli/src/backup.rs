//! The format of backups, which `lathe backup` writes and `lathe restore` reads.
//!
//! A backup is a directory with the files of a data directory and a manifest, which is written last: a directory without a
//! manifest is no backup.

mod manifest;
mod measured_file;

pub use manifest::{DatabaseCopy, Manifest, MasterKey, damaged};
pub use measured_file::{FileEntry, copy, measure, sync_folders};
