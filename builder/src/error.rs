//! Why a build ended, and where.

use std::fmt;
use std::time::Duration;

use registry::BuildId;

use crate::source::{SourceError, SourceErrorKind};

/// Where in a project the author has to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Place {
    #[must_use]
    pub fn file(file: &str) -> Self {
        Self { file: Some(file.into()), line: None }
    }

    #[must_use]
    pub fn line(file: &str, line: u32) -> Self {
        Self { file: Some(file.into()), line: Some(line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, "{file}:{line}: "),
            (Some(file), None) => write!(formatter, "{file}: "),
            _ => Ok(()),
        }
    }
}

/// The author's fault is `Failed`; the rest is the moment's, or ours.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A stage refused the project. `check` names what to mend.
    #[error("{stage} failed ({check}): {place}{message}")]
    Failed { stage: &'static str, check: String, message: String, place: Place },
    #[error("no live tool with this id")]
    ToolNotFound,
    #[error("too many builds are waiting; try again in {} s", retry_after.as_secs())]
    Overloaded { retry_after: Duration },
    #[error("too many builds of this organization are waiting; try again in {} s", retry_after.as_secs())]
    TooManyBuilds { retry_after: Duration },
    #[error(
        "this server builds in workers, and none is connected: its operator starts one with `lathe worker`; try again in \
         {} s", retry_after.as_secs()
    )]
    NoWorker { retry_after: Duration },
    #[error(
        "the worker that built this ended before the build did, and so did a second one; the server's log says more; try \
         again in {} s", retry_after.as_secs()
    )]
    WorkerLost { retry_after: Duration },
    #[error(transparent)]
    Source(SourceError),
    #[error(transparent)]
    Store(#[from] registry::Error),
    #[error(transparent)]
    Runner(#[from] runner::Error),
    #[error("{message}")]
    Internal { message: String },
    /// What ended the build of a publication; its log is kept.
    #[error("{error}")]
    Recorded { build: BuildId, error: Box<Self> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    BadRequest,
    NotFound,
    /// The caller's organisation has had its share for now.
    TooMany,
    Unavailable,
    Store,
    Runner,
    Internal,
}

impl Error {
    pub(crate) fn failed(stage: &'static str, check: &str, message: impl Into<String>, place: Place) -> Self {
        Self::Failed { stage, check: check.into(), message: message.into(), place }
    }

    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self::Internal { message: message.to_string() }
    }

    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Failed { .. } => ErrorKind::BadRequest,
            Self::ToolNotFound => ErrorKind::NotFound,
            Self::Overloaded { .. } | Self::NoWorker { .. } | Self::WorkerLost { .. } => ErrorKind::Unavailable,
            Self::TooManyBuilds { .. } => ErrorKind::TooMany,
            Self::Source(error) => match error.kind() {
                SourceErrorKind::BadRequest => ErrorKind::BadRequest,
                SourceErrorKind::NotFound => ErrorKind::NotFound,
                _ => ErrorKind::Internal,
            },
            Self::Store(_) => ErrorKind::Store,
            Self::Runner(_) => ErrorKind::Runner,
            Self::Internal { .. } => ErrorKind::Internal,
            Self::Recorded { error, .. } => error.kind(),
        }
    }

    /// Stable, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "build_failed",
            Self::ToolNotFound => "tool_not_found",
            Self::Overloaded { .. } => "overloaded",
            Self::TooManyBuilds { .. } => "too_many_builds",
            Self::NoWorker { .. } => "no_build_worker",
            Self::WorkerLost { .. } => "build_worker_lost",
            Self::Source(error) => error.code(),
            Self::Store(_) => "store",
            Self::Runner(error) => error.code(),
            Self::Internal { .. } => "internal",
            Self::Recorded { error, .. } => error.code(),
        }
    }

    /// The stage of the build that ended it.
    #[must_use]
    pub fn stage(&self) -> &'static str {
        match self {
            Self::Failed { stage, .. } => stage,
            Self::Source(_) => "checkout",
            Self::NoWorker { .. } | Self::WorkerLost { .. } => "build",
            Self::Recorded { error, .. } => error.stage(),
            _ => "publish",
        }
    }
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}
