//! The format of backups, which `lathe backup` writes and `lathe restore` reads.
//!
//! A backup is a directory, or a prefix in a bucket, with the files of a data directory and a manifest, which is written last: a place without a
//! manifest is no backup.

mod bucket;
mod damage;
mod known_files;
mod manifest;
mod measured_file;
mod place;

pub use bucket::{create_temporary_directory, download, require_empty, upload};
pub use damage::explain_damage;
pub use known_files::{DATABASE, KEY, pack_file, require_plain_file};
pub use manifest::{DatabaseCopy, Manifest, MasterKey};
pub use measured_file::{FileEntry, copy, measure, sync_folders};
pub use place::BackupPlace;
