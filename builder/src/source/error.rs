//! What can go wrong between a branch and its files, in a few kinds.

use std::io;
use std::path::PathBuf;

use super::CommitId;
use super::git_program::{GIT_VERSION_MIN, GitVersion};
use super::tree_rules::TreeRefusal;

/// An operation on a hosted repository that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The branch has never been pushed, or was deleted.
    #[error("there is no branch `{branch}`; push it first")]
    UnknownBranch { branch: String },
    /// The repository does not hold the commit.
    #[error("there is no commit {commit} in this repository")]
    UnknownCommit { commit: CommitId },
    /// The commit has no such directory; the message lists those that hold a project.
    #[error("there is no directory `{project}` in commit {commit}; {}", known_projects(.directories))]
    MissingProject { project: String, commit: CommitId, directories: Vec<String> },
    /// The tree breaks a rule.
    #[error(transparent)]
    RefusedTree(#[from] TreeRefusal),
    /// No repository was made for the organisation yet.
    #[error("there is no repository for this organisation")]
    UnknownRepository,
    /// The request is not one of the four shapes of smart HTTP.
    #[error("this path is not served; use `git clone`, `git fetch` or `git push` with the repository's address")]
    NotServed,
    /// The caller may read and not push.
    #[error("these credentials may read this repository and may not push to it")]
    PushForbidden,
    /// The request body is larger than any honest one.
    #[error("the request body is larger than {bytes_max} bytes")]
    BodyTooLarge { bytes_max: u64 },
    /// The client stopped in the middle of its request.
    #[error("the request body broke off, or came too slowly")]
    BodyCutOff,
    /// Too many git processes of this organisation run already.
    #[error("{processes_max} git operations of this organisation are running; try again shortly")]
    Busy { processes_max: u8 },
    /// The machine has no `git`.
    #[error("the program `git` was not found in PATH; install it, for example with `apt-get install git`")]
    GitMissing,
    /// The machine's `git` is older than what this crate was tested with.
    #[error(
        "git {found} is too old, {GIT_VERSION_MIN} or later is needed; update it, for example with `apt-get install git`"
    )]
    GitTooOld { found: GitVersion },
    /// A push was stopped because the hook that inspects it could not run.
    #[error("the hook {} cannot be executed, so pushes are refused; is the data directory mounted noexec?", .path.display())]
    HookMissing { path: PathBuf },
    /// Another commit is kept under the same name; pins never move.
    #[error("`{name}` already keeps commit {kept}")]
    PinTaken { name: String, kept: CommitId },
    /// A name that cannot be part of a ref.
    #[error("`{name}` cannot be used in the name of a ref")]
    InvalidPin { name: String },
    /// `git http-backend` did not answer as CGI programs do.
    #[error("git http-backend gave no valid answer: {detail}")]
    BackendReply { detail: &'static str },
    /// libgit2 failed.
    #[error("{action}: {}", .source.message())]
    Git { action: &'static str, source: git2::Error },
    /// The file system or a process failed.
    #[error("{action}: {source}")]
    Io { action: &'static str, source: io::Error },
}

/// How a caller should take a [`SourceError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// The author's input or commit is at fault.
    BadRequest,
    NotFound,
    Forbidden,
    TooLarge,
    /// Worth trying again, or an operator has to act.
    Unavailable,
    Internal,
}

impl SourceError {
    /// The kind, from which a door makes its status.
    pub fn kind(&self) -> SourceErrorKind {
        use SourceErrorKind as Kind;
        match self {
            Self::UnknownBranch { .. }
            | Self::UnknownCommit { .. }
            | Self::MissingProject { .. }
            | Self::RefusedTree(_)
            | Self::BodyCutOff => Kind::BadRequest,
            Self::UnknownRepository | Self::NotServed => Kind::NotFound,
            Self::PushForbidden => Kind::Forbidden,
            Self::BodyTooLarge { .. } => Kind::TooLarge,
            Self::Busy { .. } | Self::GitMissing | Self::GitTooOld { .. } | Self::HookMissing { .. } => {
                Kind::Unavailable
            }
            Self::PinTaken { .. }
            | Self::InvalidPin { .. }
            | Self::BackendReply { .. }
            | Self::Git { .. }
            | Self::Io { .. } => Kind::Internal,
        }
    }

    /// A stable name of the situation.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownBranch { .. } => "unknown_branch",
            Self::UnknownCommit { .. } => "unknown_commit",
            Self::MissingProject { .. } => "missing_project_directory",
            Self::RefusedTree(_) => "refused_tree",
            Self::UnknownRepository => "unknown_repository",
            Self::NotServed => "git_path_not_served",
            Self::PushForbidden => "push_forbidden",
            Self::BodyTooLarge { .. } => "git_body_too_large",
            Self::BodyCutOff => "git_body_cut_off",
            Self::Busy { .. } => "git_busy",
            Self::GitMissing => "git_missing",
            Self::GitTooOld { .. } => "git_too_old",
            Self::HookMissing { .. } => "git_hook_missing",
            Self::PinTaken { .. } | Self::InvalidPin { .. } => "git_pin_refused",
            Self::BackendReply { .. } => "git_backend_reply",
            Self::Git { .. } => "git_failed",
            Self::Io { .. } => "git_io",
        }
    }

    pub(super) fn git(action: &'static str) -> impl FnOnce(git2::Error) -> Self {
        move |source| Self::Git { action, source }
    }

    pub(super) fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}

/// Directories named in a message; more would hide the message itself.
const DIRECTORIES_NAMED_MAX: usize = 10;

fn known_projects(directories: &[String]) -> String {
    if directories.is_empty() {
        return "no directory of this commit holds a project file such as pyproject.toml".to_owned();
    }
    let named: Vec<String> = directories.iter().take(DIRECTORIES_NAMED_MAX).map(|name| format!("`{name}`")).collect();
    let more = match directories.len().saturating_sub(DIRECTORIES_NAMED_MAX) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("directories with a project file: {}{more}", named.join(", "))
}
