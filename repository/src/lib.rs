//! Hosted git: one bare repository for each organisation, served over smart HTTP.
//!
//! The stock `git` program implements the protocol ([`GitServer`]). The crate itself reads and writes repositories through libgit2,
//! without a work tree. `smart_http` has requests, `push` what a push passes before a branch moves, `trees` the rules and bounds of
//! trees, `bare` one repository on disk, `shared` repositories that several servers share, and `git` the program with its settings.

#![forbid(unsafe_code)]

mod bare;
mod blocking;
mod commits;
mod config;
mod copies;
mod error;
mod export;
mod garbage;
mod git;
mod git_version;
mod push;
mod ref_names;
mod repositories;
mod shared;
mod smart_http;
mod trees;

pub use bare::{HeldCommit, Repository, complete_repository};
pub use commits::{CommitId, InvalidCommitId};
pub use config::{Config, GitLimits};
pub use copies::RepositoryCopier;
pub use error::{Error, ErrorKind, KnownProjects};
pub use export::{PROJECT_BYTES_MAX, SourceTree, export_project, find_projects};
pub use git::GitProgram;
pub use git_version::{GIT_VERSION_MIN, GitVersion};
pub use push::{HookEnvironment, ObjectRefusal, PushRefusal, check_push};
pub use repositories::{Repositories, RepositorySharing, VerifiedRepository, repository_directory};
pub use smart_http::{GitBody, GitRequest, GitResponse, GitServer, Inflater};
pub use trees::{
    DEPTH_MAX, ENTRIES_MAX, Extent, FILE_BYTES_MAX, Inspector, PATH_BYTES_MAX, Reason, StandIn, TreeLimits,
    TreeRefusal, find_stand_in,
};
