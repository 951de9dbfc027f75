//! What goes wrong beside the tool's own failures.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use registry::Digest;

/// One input that misses the tool's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Position among the inputs, from zero.
    pub input_index: usize,
    /// JSON pointer into `input_parameters`.
    pub pointer: String,
    pub message: String,
}

/// In the request's own words, such as `inputs[2].input_parameters/text: …`.
impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input_index, pointer, message } = self;
        write!(formatter, "inputs[{input_index}].input_parameters{pointer}: {message}")
    }
}

/// A version's stored code that cannot be had back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the stored code of this version {problem}: {} in the data directory. Publishing its commit again stores it anew; or \
     its operator puts the file back from a backup", file(.artifact)
)]
pub struct Damage {
    pub artifact: Digest,
    /// As the rest of a sentence.
    pub problem: String,
}

/// Where artefacts lie.
fn file(artifact: &Digest) -> String {
    let name = artifact.to_hex();
    format!("artifacts/{}/{name}", &name[..2])
}

/// The caller's fault, the moment's, or ours.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no live version {constraint} of this tool")]
    VersionNotFound { constraint: String },
    #[error("{}", misfits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    InvalidInput { misfits: Vec<Misfit> },
    #[error("invocation of between 1 and 10 inputs, not {count}")]
    InputCount { count: usize },
    #[error("the variable {name} is declared by the version and not set on the tool")]
    VariableMissing { name: String },
    #[error("too many runs are waiting; try again in {} s", retry_after.as_secs())]
    Overloaded { retry_after: Duration },
    #[error("too many runs of this organization are waiting; try again in {} s", retry_after.as_secs())]
    TooManyRuns { retry_after: Duration },
    #[error("tools call one another in a circle, or more than three deep")]
    LoopDetected,
    #[error("the run has no tape: it goes on, or its tape has expired, was switched off or is older than tapes are")]
    TapeMissing,
    #[error("the run did more than a tape holds, so that it cannot be replayed")]
    TapeCut,
    #[error("the run's tape is damaged")]
    TapeDamaged,
    #[error("the code of this run is no version of a tool any more: replay it against {wanted}")]
    ReplaySubject { wanted: &'static str },
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error("the component was refused: {reason}")]
    Rejected { reason: String },
    #[error(transparent)]
    Store(#[from] registry::Error),
    #[error("{message}")]
    Internal { message: String },
}

/// What a caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    NotFound,
    Invalid,
    /// The caller's organisation has had its share for now.
    TooMany,
    Unavailable,
    Internal,
}

impl Error {
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::Internal { message: message.into() }
    }

    pub(crate) fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected { reason: reason.into() }
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
            Self::VersionNotFound { .. } => ErrorKind::NotFound,
            Self::InvalidInput { .. }
            | Self::InputCount { .. }
            | Self::VariableMissing { .. }
            | Self::LoopDetected
            | Self::TapeMissing
            | Self::TapeCut
            | Self::TapeDamaged
            | Self::ReplaySubject { .. }
            | Self::Rejected { .. } => ErrorKind::Invalid,
            Self::Overloaded { .. } | Self::Damaged(_) => ErrorKind::Unavailable,
            Self::TooManyRuns { .. } => ErrorKind::TooMany,
            Self::Store(_) | Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// Stable, for machines.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::VersionNotFound { .. } => "version_not_found",
            Self::InvalidInput { .. } => "input_schema",
            Self::InputCount { .. } => "input_count",
            Self::VariableMissing { .. } => "variable_missing",
            Self::LoopDetected => "loop_detected",
            Self::Overloaded { .. } => "overloaded",
            Self::TooManyRuns { .. } => "too_many_runs",
            Self::TapeMissing => "tape_missing",
            Self::TapeCut => "tape_cut",
            Self::TapeDamaged => "tape_damaged",
            Self::ReplaySubject { .. } => "replay_subject",
            Self::Damaged(_) => "artifact_damaged",
            Self::Rejected { .. } => "component_rejected",
            Self::Store(_) => "store",
            Self::Internal { .. } => "internal",
        }
    }
}
