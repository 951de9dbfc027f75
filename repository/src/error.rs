//! The errors of hosted git.

use std::fmt;
use std::io;
use std::path::PathBuf;

use registry::{BranchName, QueueFull};

use crate::commits::CommitId;
use crate::git_version::{GIT_VERSION_MIN, GitVersion};
use crate::trees::TreeRefusal;

/// A failed operation on a hosted repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The branch has never been pushed, or was deleted.
    #[error("there is no branch `{branch}`; push it first")]
    UnknownBranch { branch: String },
    /// The repository does not hold the commit.
    #[error("there is no commit {commit} in this repository")]
    UnknownCommit { commit: CommitId },
    /// The commit has no such directory. The message lists the directories with a project.
    #[error(
        "there is no directory `{project}` {}commit {commit}; {known}. If the directory is new, push it first",
        show_branch(.branch.as_ref())
    )]
    MissingProject { project: String, branch: Option<BranchName>, commit: CommitId, known: Box<KnownProjects> },
    /// The tree breaks a rule.
    #[error(transparent)]
    RefusedTree(#[from] TreeRefusal),
    /// No repository was made for the organisation yet.
    #[error("there is no repository for this organisation")]
    UnknownRepository,
    /// The request is not one of smart HTTP's four kinds.
    #[error("this path is not served; use `git clone`, `git fetch` or `git push` with the repository's address")]
    NotServed,
    /// The caller may read and not push.
    #[error("these credentials may read this repository and may not push to it")]
    PushForbidden,
    /// The request body is too large, as sent or inflated.
    #[error(
        "the body of this git request has more than {bytes_max} bytes, inflated if it is compressed; \
        fetch or push less at a time, for example the history in parts"
    )]
    BodyTooLarge { bytes_max: u64 },
    /// The body has an encoding that no git client uses.
    #[error("the body of a git request must be plain or encoded as `gzip`; send it without `Content-Encoding`")]
    UnknownEncoding,
    /// The headers declare gzip, and the body is something else.
    #[error("the request body is not one complete gzip stream, which its `Content-Encoding` declares: {detail}")]
    BodyNotGzip { detail: String },
    /// The client stopped sending its request.
    #[error("the request body ended early, or arrived too slowly; try again")]
    BodyCutOff,
    /// The organisation or the server has reached its bound of running and waiting git operations.
    #[error("too many git operations of {} are running; try again shortly", name_operations(.of))]
    Busy { of: QueueFull },
    /// A push has waited too long for a garbage collection.
    #[error("garbage of this repository is being collected; push again in a minute")]
    Collecting,
    /// The machine has no `git`.
    #[error("the program `git` was not found in PATH; install it, for example with `apt-get install git`")]
    GitMissing,
    /// The machine's `git` is older than the oldest supported version.
    #[error(
        "git {found} is too old, {GIT_VERSION_MIN} or later is needed; update it, for example with `apt-get install git`"
    )]
    GitTooOld { found: GitVersion },
    /// The hook that inspects pushes cannot run.
    #[error("the hook {} cannot be executed, so pushes are refused; check whether the data directory is mounted noexec", .path.display())]
    HookMissing { path: PathBuf },
    /// The pin exists for another commit; pins never move.
    #[error("`{name}` already keeps commit {kept}")]
    PinTaken { name: String, kept: CommitId },
    /// A name that cannot be part of a ref.
    #[error("`{name}` cannot be used in the name of a ref")]
    InvalidPin { name: String },
    /// `git http-backend` gave an invalid CGI response.
    #[error("git http-backend gave no valid answer: {detail}")]
    BackendReply { detail: &'static str },
    /// A garbage collection failed.
    #[error("git repack failed: {detail}")]
    Repack { detail: String },
    /// A repository could not be copied.
    #[error("git could not copy the repository: {detail}")]
    Copy { detail: String },
    /// git could not write or read a pack of a shared repository.
    #[error("git failed with a pack: {detail}")]
    Pack { detail: String },
    /// A change has waited too long for other changes of a shared repository.
    #[error("other changes of this repository are under way; try again shortly")]
    Changing,
    /// Another server took the lease during a change.
    #[error("this server was too slow, and another one has changed the repository; try again")]
    ChangeLost,
    /// Objects of the repository, or a pack of it in the bucket, are missing or damaged. `detail` is for the log.
    #[error(
        "stored parts of this organisation's git repository are missing or damaged. The operator of the server finds them \
        with `lathe doctor`; a server that still has them stores them again by itself, so try again shortly"
    )]
    Damaged { detail: String },
    /// The database or the bucket of a shared repository failed.
    #[error(transparent)]
    Shared(registry::Error),
    /// libgit2 failed.
    #[error("{action}: {}", .source.message())]
    Git { action: &'static str, source: git2::Error },
    /// The file system or a process failed.
    #[error("{action}: {source}")]
    Io { action: &'static str, source: io::Error },
}

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The author's input or commit is at fault.
    BadRequest,
    /// A branch, a commit or a directory does not exist in the caller's own repository.
    Missing,
    NotFound,
    Forbidden,
    TooLarge,
    /// The body has an unsupported encoding.
    UnknownForm,
    /// The request may succeed later, or an operator has to act.
    Unavailable,
    Internal,
}

impl Error {
    /// The kind, which determines the HTTP status.
    pub fn kind(&self) -> ErrorKind {
        use ErrorKind as Kind;
        match self {
            Self::RefusedTree(_) | Self::BodyNotGzip { .. } | Self::BodyCutOff => Kind::BadRequest,
            Self::UnknownBranch { .. } | Self::UnknownCommit { .. } | Self::MissingProject { .. } => Kind::Missing,
            Self::UnknownRepository | Self::NotServed => Kind::NotFound,
            Self::PushForbidden => Kind::Forbidden,
            Self::BodyTooLarge { .. } => Kind::TooLarge,
            Self::UnknownEncoding => Kind::UnknownForm,
            Self::Busy { .. }
            | Self::Collecting
            | Self::Changing
            | Self::ChangeLost
            | Self::Damaged { .. }
            | Self::GitMissing
            | Self::GitTooOld { .. }
            | Self::HookMissing { .. } => Kind::Unavailable,
            Self::Shared(error) if error.kind() == registry::ErrorKind::Unavailable => Kind::Unavailable,
            Self::PinTaken { .. }
            | Self::Shared(_)
            | Self::InvalidPin { .. }
            | Self::BackendReply { .. }
            | Self::Repack { .. }
            | Self::Copy { .. }
            | Self::Pack { .. }
            | Self::Git { .. }
            | Self::Io { .. } => Kind::Internal,
        }
    }

    /// The stable error code.
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
            Self::BodyNotGzip { .. } => "git_body_not_gzip",
            Self::UnknownEncoding => "git_body_encoding",
            Self::Busy { .. } | Self::Collecting | Self::Changing | Self::ChangeLost => "git_busy",
            Self::GitMissing => "git_missing",
            Self::GitTooOld { .. } => "git_too_old",
            Self::HookMissing { .. } => "git_hook_missing",
            Self::PinTaken { .. } | Self::InvalidPin { .. } => "git_pin_refused",
            Self::BackendReply { .. } => "git_backend_reply",
            Self::Repack { .. } | Self::Copy { .. } | Self::Pack { .. } | Self::Git { .. } => "git_failed",
            Self::Damaged { .. } => "repository_damaged",
            Self::Shared(error) => error.code(),
            Self::Io { .. } => "git_io",
        }
    }

    /// Adds the branch whose tip was read, for the message.
    pub fn on_branch(mut self, name: Option<&BranchName>) -> Self {
        if let Self::MissingProject { branch, .. } = &mut self {
            *branch = name.cloned();
        }
        self
    }

    pub(crate) fn git(action: &'static str) -> impl FnOnce(git2::Error) -> Self {
        move |source| match is_damage(&source) {
            true => Self::Damaged { detail: format!("{action}: {}", source.message()) },
            false => Self::Git { action, source },
        }
    }

    pub(crate) fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}

impl From<registry::Error> for Error {
    fn from(error: registry::Error) -> Self {
        match error {
            registry::Error::LeaseLost => Self::ChangeLost,
            registry::Error::PackDamaged { detail } => Self::Damaged { detail },
            error => Self::Shared(error),
        }
    }
}

/// Whether libgit2 failed with stored bytes. Callers look for objects that may be absent by themselves.
fn is_damage(error: &git2::Error) -> bool {
    use git2::ErrorClass as Class;
    matches!(error.class(), Class::Odb | Class::Zlib | Class::Object | Class::Tree | Class::Indexer)
}

fn show_branch(branch: Option<&BranchName>) -> String {
    branch.map_or_else(|| "in ".to_owned(), |branch| format!("on {branch}, "))
}

fn name_operations(full: &QueueFull) -> &'static str {
    match full {
        QueueFull::Organization => "this organisation",
        QueueFull::Process => "this server",
    }
}

/// Directories that a message lists.
const DIRECTORIES_NAMED_MAX: usize = 10;

/// The directories of a commit that have a project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProjects {
    pub directories: Vec<String>,
    /// The name of a project file, for a commit without projects.
    pub example: String,
}

impl fmt::Display for KnownProjects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { directories, example } = self;
        if directories.is_empty() {
            return write!(formatter, "no directory of this commit contains a project file such as {example}");
        }
        let named: Vec<String> =
            directories.iter().take(DIRECTORIES_NAMED_MAX).map(|name| format!("`{name}`")).collect();
        write!(formatter, "directories with a project file: {}", named.join(", "))?;
        match directories.len().saturating_sub(DIRECTORIES_NAMED_MAX) {
            0 => Ok(()),
            count => write!(formatter, " and {count} more"),
        }
    }
}
