//! Hosted git: one bare repository for each organisation, served over smart HTTP.
//!
//! The stock `git` program implements the protocol ([`GitServer`]). This crate itself reads and writes repositories
//! through libgit2, without a work tree. A push is inspected before a branch moves ([`pre_receive`]). The same
//! [`quarantine::Inspector`] checks the export of a project ([`export`]). The rules for names and modes are in
//! `tree_rules`, those for sizes and counts in `quarantine`.

mod checkout;
mod collection;
mod commit_id;
mod commit_links;
mod error;
mod git_command;
mod git_program;
mod git_version;
mod leftovers;
mod limits;
pub mod pre_receive;
mod push_refusal;
pub mod quarantine;
mod repositories;
mod repository;
mod repository_copy;
mod repository_files;
mod repository_settings;
mod repository_state;
mod shared;
mod sharing;
pub(crate) mod smart_http;
mod tree_rules;
mod usage;

pub use checkout::{PROJECT_BYTES_MAX, SourceTree, export, project_directories};
pub use commit_id::{CommitId, InvalidCommitId};
pub use error::{SourceError, SourceErrorKind};
pub use git_program::GitProgram;
pub use git_version::{GIT_VERSION_MIN, GitVersion};
pub use limits::GitLimits;
pub use repositories::{GitConfig, Repositories, RepositorySharing, directory_of as repository_directory};
pub use repository::{HeldCommit, Repository};
pub use repository_copy::{RepositoryCopier, complete_repository};
pub use sharing::VerifiedRepository;
pub use smart_http::{GitBody, GitRequest, GitResponse, GitServer};
pub use tree_rules::{Reason, TreeRefusal};
