//! Errors of the runner: refusals of a call and faults of the host. A tool's own failure is an outcome.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use registry::{Digest, Permission, QueueFull, Timestamp, UserId, Version, did_you_mean};

use crate::interaction::{INPUT_REQUIRED, Question};

/// Time after which a refused caller may try again. A slot becomes free when a run ends, and most runs end within a
/// second.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A place in which an input does not match the tool's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaViolation {
    /// Position among the inputs, from zero.
    pub input_index: usize,
    /// JSON pointer into `input_parameters`.
    pub pointer: String,
    pub message: String,
}

/// Writes the path within the request, such as `inputs[2].input_parameters/text: …`.
impl fmt::Display for SchemaViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input_index, pointer, message } = self;
        write!(formatter, "inputs[{input_index}].input_parameters{pointer}: {message}")
    }
}

/// Stored code of a version that is missing, damaged or unreadable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the stored code of this version {problem}: {} in the data directory or in its bucket. Publish its commit again, or ask the operator to \
     restore the file from a backup", show_file(.artifact)
)]
pub struct DamagedArtifact {
    pub artifact: Digest,
    /// The predicate of the message, such as "is missing".
    pub problem: String,
}

/// The path of an artifact in the data directory, which is also the beginning of its key in a bucket.
fn show_file(artifact: &Digest) -> String {
    let name = artifact.to_hex();
    format!("artifacts/{}/{name}", &name[..2])
}

/// Why a call is refused: the bound that its inputs would exceed, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputsFull {
    pub bound: QueueFull,
    pub bytes_max: usize,
}

/// A version that nobody can call any more, and the versions that are live.
#[derive(Debug)]
pub struct DeprecatedVersion {
    pub tool_name: String,
    pub version: Version,
    pub at: Timestamp,
    pub by: UserId,
    /// Highest first.
    pub live: Vec<Version>,
}

/// Live versions that a message lists: the newest ones, which callers want.
const LIVE_LISTED_MAX: usize = 5;

fn explain_deprecated(found: &DeprecatedVersion) -> String {
    let DeprecatedVersion { tool_name, version, at, by, live } = found;
    let listed: Vec<_> = live.iter().take(LIVE_LISTED_MAX).map(ToString::to_string).collect();
    let more = if live.len() > listed.len() { ", …" } else { "" };
    let live =
        if listed.is_empty() { "no version is live".to_owned() } else { format!("live: {}{more}", listed.join(", ")) };
    format!("{tool_name} {version} was deprecated on {at} by {by}; {live}")
}

/// Presented tools that a message lists.
const PRESENTED_LISTED_MAX: usize = 20;

fn join_names(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        some => {
            let more = if some.len() > PRESENTED_LISTED_MAX { ", …" } else { "" };
            format!("{}{more}", some[..some.len().min(PRESENTED_LISTED_MAX)].join(", "))
        }
    }
}

fn show_digest(digest: Option<&Digest>) -> String {
    digest.map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// The reason why a run has no recording to replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TapeAbsence {
    #[error("it has not ended yet; wait for its end")]
    Running,
    #[error(
        "the server itself ran this built-in tool, and only runs of published tools are recorded; call the tool again"
    )]
    BuiltIn,
    #[error(
        "it has no recording: the recording has expired (`--tape-hours`), the operator or the tool turned recording off, or \
         the runner process of the run died; run the tool again"
    )]
    NotKept,
    #[error("another release of Lathe recorded it; run the tool again")]
    OtherRelease,
}

/// A refusal of a call, or a fault of the host.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("this tool has no live version that matches {constraint}")]
    VersionNotFound { constraint: String },
    #[error("{}", explain_deprecated(.0))]
    VersionDeprecated(Box<DeprecatedVersion>),
    #[error(
        "the turn does not present the tool {tool}; it presents {}{}",
        join_names(.presented), did_you_mean(tool, presented.iter().map(String::as_str))
    )]
    ToolNotPresented { tool: String, presented: Vec<String> },
    #[error(
        "the operation needs the permission {permission}, which the user's role does not grant; an administrator of the \
         organization grants it"
    )]
    Forbidden { permission: Permission },
    #[error("a person has to confirm each call of {tool_name}, and this call has no confirmation")]
    ConfirmationMissing { tool_name: String },
    #[error("the person behind this call did not confirm that {tool_name} runs")]
    ConfirmationRefused { tool_name: String },
    /// The message names the rule and the tool.
    #[error("{message}")]
    RuleForbids { message: String },
    /// The client asks its person, and calls again.
    #[error("a person is asked to confirm the call")]
    ConfirmationAsked(Box<Question>),
    #[error("the call pins the component {pinned}, and the version has the component {}", show_digest(.present.as_ref()))]
    DigestDiffers { pinned: Digest, present: Option<Digest> },
    #[error("{}", violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    InvalidInput { violations: Vec<SchemaViolation> },
    #[error("a call has between 1 and 10 inputs, not {count}")]
    InputCount { count: usize },
    #[error("the version requires the variable {name}, which is not set on the tool")]
    VariableMissing { name: String },
    #[error("too many runs are waiting; try again in {} s", retry_after.as_secs())]
    Overloaded { retry_after: Duration },
    #[error("too many runs of this organization are waiting; try again in {} s", retry_after.as_secs())]
    TooManyRuns { retry_after: Duration },
    #[error("{}", describe_full_inputs(*.bound, *.bytes_max, *.retry_after))]
    InputsFull { bound: QueueFull, bytes_max: usize, retry_after: Duration },
    #[error(
        "tools call each other in a cycle, or too deeply: over HTTP more than three deep, as calls of tools more than eight deep"
    )]
    LoopDetected,
    #[error("the run cannot be replayed: {0}")]
    TapeMissing(TapeAbsence),
    #[error("the run cannot be replayed: its tape exceeded the size limit")]
    TapeCut,
    #[error("the tape of the run is damaged")]
    TapeDamaged,
    #[error("the code of this run is not stored as a version of a tool: replay the run against {wanted}")]
    ReplaySubject { wanted: &'static str },
    #[error(transparent)]
    Damaged(#[from] DamagedArtifact),
    #[error("the component was refused: {reason}")]
    Rejected { reason: String },
    /// A failure that passes, unlike a refusal: a child process was killed, could not be started or took too long.
    #[error(
        "{what} did not end ({reason}): the machine may be short of memory or overloaded; try again in {} s",
        RETRY_AFTER.as_secs()
    )]
    ProcessLost { what: &'static str, reason: String },
    #[error(transparent)]
    Store(#[from] registry::Error),
    #[error("{message}")]
    Internal { message: String },
}

/// Classes of errors by what a caller can do about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    NotFound,
    Forbidden,
    /// The call and the present version differ.
    Conflict,
    Invalid,
    /// The caller's organisation has reached its limit for now.
    TooMany,
    Unavailable,
    Internal,
}

impl From<QueueFull> for Error {
    fn from(full: QueueFull) -> Self {
        match full {
            QueueFull::Organization => Self::TooManyRuns { retry_after: RETRY_AFTER },
            QueueFull::Process => Self::Overloaded { retry_after: RETRY_AFTER },
        }
    }
}

impl From<InputsFull> for Error {
    fn from(InputsFull { bound, bytes_max }: InputsFull) -> Self {
        Self::InputsFull { bound, bytes_max, retry_after: RETRY_AFTER }
    }
}

fn describe_full_inputs(bound: QueueFull, bytes_max: usize, retry_after: Duration) -> String {
    let of = match bound {
        QueueFull::Organization => "this organization",
        QueueFull::Process => "the server",
    };
    let (megabytes, seconds) = (bytes_max >> 20, retry_after.as_secs());
    format!(
        "the inputs of the running and waiting runs of {of} would have more than {megabytes} MiB; send smaller inputs, or try again in {seconds} s"
    )
}

impl Error {
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::Internal { message: message.into() }
    }

    pub(crate) fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected { reason: reason.into() }
    }

    /// The failure of a child process that the next attempt may not have. `what` is its work.
    pub fn process_lost(what: &'static str, reason: impl Into<String>) -> Self {
        Self::ProcessLost { what, reason: reason.into() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
    pub(crate) fn engine(error: wasmtime::Error) -> Self {
        Self::internal(format!("{error:#}"))
    }

    pub(crate) fn cache(path: &Path, error: &std::io::Error) -> Self {
        Self::internal(format!("compiled code at {}: {error}", path.display()))
    }

    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::VersionNotFound { .. } | Self::VersionDeprecated(_) | Self::ToolNotPresented { .. } => {
                ErrorKind::NotFound
            }
            Self::Forbidden { .. }
            | Self::ConfirmationMissing { .. }
            | Self::ConfirmationRefused { .. }
            | Self::RuleForbids { .. }
            | Self::ConfirmationAsked(_) => ErrorKind::Forbidden,
            Self::DigestDiffers { .. } => ErrorKind::Conflict,
            Self::InvalidInput { .. }
            | Self::InputCount { .. }
            | Self::VariableMissing { .. }
            | Self::LoopDetected
            | Self::TapeMissing(_)
            | Self::TapeCut
            | Self::TapeDamaged
            | Self::ReplaySubject { .. }
            | Self::Rejected { .. } => ErrorKind::Invalid,
            Self::Overloaded { .. }
            | Self::InputsFull { bound: QueueFull::Process, .. }
            | Self::Damaged(_)
            | Self::ProcessLost { .. } => ErrorKind::Unavailable,
            Self::TooManyRuns { .. } | Self::InputsFull { bound: QueueFull::Organization, .. } => ErrorKind::TooMany,
            Self::Store(_) | Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// The stable code for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::VersionNotFound { .. } => "version_not_found",
            Self::VersionDeprecated(_) => "version_deprecated",
            Self::ToolNotPresented { .. } => "tool_not_presented",
            Self::Forbidden { .. } => "permission_missing",
            Self::ConfirmationMissing { .. } => "confirmation_missing",
            Self::ConfirmationRefused { .. } => "confirmation_refused",
            Self::RuleForbids { .. } => "rule_forbids",
            Self::ConfirmationAsked(_) => INPUT_REQUIRED,
            Self::DigestDiffers { .. } => "digest_differs",
            Self::InvalidInput { .. } => "input_schema",
            Self::InputCount { .. } => "input_count",
            Self::VariableMissing { .. } => "variable_missing",
            Self::LoopDetected => "loop_detected",
            Self::Overloaded { .. } | Self::InputsFull { bound: QueueFull::Process, .. } => "overloaded",
            Self::TooManyRuns { .. } | Self::InputsFull { bound: QueueFull::Organization, .. } => "too_many_runs",
            Self::TapeMissing(_) => "tape_missing",
            Self::TapeCut => "tape_cut",
            Self::TapeDamaged => "tape_damaged",
            Self::ReplaySubject { .. } => "replay_subject",
            Self::Damaged(_) => "artifact_damaged",
            Self::Rejected { .. } => "component_rejected",
            Self::ProcessLost { .. } => "process_lost",
            Self::Store(_) => "store",
            Self::Internal { .. } => "internal",
        }
    }
}
