//! Repositories that several servers share. Refs and their generation are in the database, packs in a bucket, and each server has
//! a bare copy for git.
//!
//! - **Reads** compare the generation of the copy with the recorded one first, and bring the copy up to date ([`copy`]).
//! - **Changes** hold the repository's lease ([`lease`]). A push runs on refs of its own ([`staging`]), so that no reader sees a
//!   branch before it is recorded. The new objects are stored as a pack, then one transaction records the pack and the refs, if
//!   the lease and the generation are still the same ([`change`]). Only then git's answer is sent.
//!
//! A pack that is missing or damaged in the bucket is stored again by a server whose copy has it ([`repair`]).
//!
//! A server that ends in between leaves nothing but a pack that nobody refers to, and a lease that expires.

mod change;
mod collection;
mod command;
mod copy;
mod create;
mod lease;
mod packs;
mod read_back;
mod refs;
mod repair;
mod staging;

use std::path::PathBuf;
use std::sync::Arc;

use registry::SharedRepositories;

use crate::git::GitCommands;
pub(super) use change::Change;
pub(super) use create::FirstCommit;
pub(super) use staging::Staging;

/// The shared repositories and this server's copies. Clones are cheap.
#[derive(Debug, Clone)]
pub(super) struct Sharing {
    records: SharedRepositories,
    commands: GitCommands,
    /// The directory of the copies.
    root: Arc<PathBuf>,
    /// The directory of the repositories from before they were shared.
    own: Arc<PathBuf>,
}

/// The directories of [`Sharing`].
pub(super) struct SharingDirectories {
    pub root: PathBuf,
    pub own: PathBuf,
}

impl Sharing {
    pub(super) fn new(records: SharedRepositories, commands: GitCommands, directories: SharingDirectories) -> Self {
        let SharingDirectories { root, own } = directories;
        Self { records, commands, root: Arc::new(root), own: Arc::new(own) }
    }

    pub(super) fn records(&self) -> &SharedRepositories {
        &self.records
    }

    pub(super) fn root(&self) -> &std::path::Path {
        &self.root
    }
}
