//! The errors of builds.

use std::fmt;
use std::time::Duration;

use registry::BuildId;

use crate::text::{cut, show};

/// A file of a project, and a line in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Location {
    #[must_use]
    pub fn file(file: &str) -> Self {
        Self { file: Some(file.into()), line: None }
    }

    #[must_use]
    pub fn line(file: &str, line: u32) -> Self {
        Self { file: Some(file.into()), line: Some(line) }
    }

    /// The location of a JSON error in a file.
    pub(crate) fn of_json(file: &str, error: &serde_json::Error) -> Self {
        Self { line: u32::try_from(error.line()).ok().filter(|line| *line > 0), ..Self::file(file) }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, "{file}:{line}: "),
            (Some(file), None) => write!(formatter, "{file}: "),
            _ => Ok(()),
        }
    }
}

/// The error of a build. The author can correct `Failed` and most of `Repository`; the other errors concern the service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A stage refused the project. `check` is the name of the violated rule.
    #[error("{stage} failed ({check}): {location}{message}")]
    Failed { stage: &'static str, check: String, message: String, location: Location },
    #[error("no live tool with this id")]
    ToolNotFound,
    #[error("too many builds are waiting; try again in {} s", retry_after.as_secs())]
    Overloaded { retry_after: Duration },
    #[error("too many builds of this organization are waiting; try again in {} s", retry_after.as_secs())]
    TooManyBuilds { retry_after: Duration },
    #[error(
        "this server builds in separate workers, and none is connected; ask its operator to start one with `lathe worker`, \
         or try again in {} s", retry_after.as_secs()
    )]
    NoWorker { retry_after: Duration },
    #[error(
        "the build worker ended during this build, and so did a second worker; try again in {} s, and ask the operator to \
         read the server's log if it happens again", retry_after.as_secs()
    )]
    WorkerLost { retry_after: Duration },
    #[error(transparent)]
    Repository(repository::Error),
    #[error(transparent)]
    Store(#[from] registry::Error),
    #[error(transparent)]
    Runner(#[from] runner::Error),
    #[error("{message}")]
    Internal { message: String },
    /// The error of a publication whose build and log were recorded.
    #[error("{error}")]
    Recorded { build: BuildId, error: Box<Self> },
}

/// The kind of an error, which determines the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    BadRequest,
    NotFound,
    /// The organisation has reached its own bound.
    TooMany,
    Unavailable,
    Store,
    Runner,
    Internal,
}

impl Error {
    /// The refusal of a project by a stage. A long message is cut.
    pub(crate) fn failed(stage: &'static str, check: &str, message: impl Into<String>) -> Self {
        let (check, message) = (show(check).into(), cut(message.into()));
        Self::Failed { stage, check, message, location: Location::default() }
    }

    /// Adds the location of a refusal.
    pub(crate) fn at(mut self, place: Location) -> Self {
        if let Self::Failed { location, .. } = &mut self {
            *location = Location { file: place.file.map(cut), ..place };
        }
        self
    }

    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self::Internal { message: cut(message.to_string()) }
    }

    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Failed { .. } => ErrorKind::BadRequest,
            Self::ToolNotFound => ErrorKind::NotFound,
            Self::Overloaded { .. } | Self::NoWorker { .. } | Self::WorkerLost { .. } => ErrorKind::Unavailable,
            Self::TooManyBuilds { .. } => ErrorKind::TooMany,
            Self::Repository(error) => match error.kind() {
                repository::ErrorKind::BadRequest => ErrorKind::BadRequest,
                repository::ErrorKind::Missing | repository::ErrorKind::NotFound => ErrorKind::NotFound,
                _ => ErrorKind::Internal,
            },
            Self::Store(_) => ErrorKind::Store,
            Self::Runner(_) => ErrorKind::Runner,
            Self::Internal { .. } => ErrorKind::Internal,
            Self::Recorded { error, .. } => error.kind(),
        }
    }

    /// The stable error code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "build_failed",
            Self::ToolNotFound => "tool_not_found",
            Self::Overloaded { .. } => "overloaded",
            Self::TooManyBuilds { .. } => "too_many_builds",
            Self::NoWorker { .. } => "no_build_worker",
            Self::WorkerLost { .. } => "build_worker_lost",
            Self::Repository(error) => error.code(),
            Self::Store(_) => "store",
            Self::Runner(error) => error.code(),
            Self::Internal { .. } => "internal",
            Self::Recorded { error, .. } => error.code(),
        }
    }

    /// Whether a child process was killed or could not be started, so that the next attempt may succeed.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Runner(runner::Error::ProcessLost { .. }))
    }

    /// The stage that ended the build.
    #[must_use]
    pub fn stage(&self) -> &'static str {
        match self {
            Self::Failed { stage, .. } => stage,
            Self::Repository(_) => "checkout",
            Self::NoWorker { .. } | Self::WorkerLost { .. } => "build",
            Self::Recorded { error, .. } => error.stage(),
            _ => "publish",
        }
    }
}

impl From<repository::Error> for Error {
    fn from(error: repository::Error) -> Self {
        match error {
            repository::Error::Shared(error) => Self::Store(error),
            error => Self::Repository(error),
        }
    }
}
