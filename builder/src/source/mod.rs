//! Hosted git: one bare repository per organisation, served over smart HTTP and read as bounded trees.
//!
//! The stock `git` program speaks the protocol ([`GitServer`]); everything that this crate itself reads or writes goes
//! through libgit2 and never through a work tree. What was pushed is inspected before a branch moves
//! ([`pre_receive`]), and the same [`quarantine::Inspector`] guards the export of a project ([`export`]), so the rules
//! stand in one place: names and modes in `tree_rules`, sizes and counts in `quarantine`.

mod checkout;
mod commit_id;
mod error;
mod git_program;
mod leftovers;
pub mod pre_receive;
pub mod quarantine;
mod repositories;
mod repository;
mod repository_files;
mod smart_http;
mod tree_rules;

pub use checkout::{PROJECT_BYTES_MAX, SourceTree, export, project_directories};
pub use commit_id::{CommitId, InvalidCommitId};
pub use error::{SourceError, SourceErrorKind};
pub use git_program::{GIT_VERSION_MIN, GitProgram, GitVersion};
pub use repositories::{GitConfig, Repositories};
pub use repository::Repository;
pub use smart_http::{GitBody, GitRequest, GitResponse, GitServer};
pub use tree_rules::{Reason, TreeRefusal};
