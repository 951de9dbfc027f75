//! The kind and the stable code of an error. Kinds of the inner crates map to kinds of the API.

use std::time::Duration;

use super::{Error, Kind, Problem};

/// Time to wait when the error does not say.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl Error {
    pub fn kind(&self) -> Kind {
        match self {
            Self::NotFound => Kind::NotFound,
            Self::MethodNotAllowed => Kind::MethodNotAllowed,
            Self::Unauthenticated | Self::KeyEnded(_) => Kind::Unauthenticated,
            Self::Forbidden { .. } | Self::OrganizationDiffers => Kind::Forbidden,
            Self::Invalid { .. } => Kind::Invalid,
            Self::Refused { .. } | Self::CutOff | Self::Malformed => Kind::BadRequest,
            Self::TooLarge { .. } => Kind::TooLarge,
            Self::StillRunning { .. } | Self::Interrupted { .. } | Self::RunEnded => Kind::Conflict,
            Self::TooSlow | Self::HeadersTooSlow => Kind::Timeout,
            Self::UriTooLong { .. } => Kind::UriTooLong,
            Self::HeadersTooLarge { .. } => Kind::HeadersTooLarge,
            Self::RateLimited { .. }
            | Self::TooMany { .. }
            | Self::TooManyRequests { .. }
            | Self::BodiesFull { owner: Some(_) } => Kind::TooManyRequests,
            Self::ShuttingDown
            | Self::NotReady { .. }
            | Self::TooManyConnections
            | Self::Busy { .. }
            | Self::BodiesFull { owner: None } => Kind::Unavailable,
            Self::Internal { .. } => Kind::Internal,
            Self::Registry(error) => classify_registry_kind(error.kind()),
            Self::Other { kind, .. } => *kind,
            Self::Runner(error) => error.kind().into(),
            Self::Builder(error) => classify_builder_kind(error.kind()),
            Self::Repository(error) => classify_repository_kind(error.kind()),
            Self::InBuild { error, .. } => error.kind(),
        }
    }

    /// A stable name. All missing resources share one code, so that the response does not tell the reason, except those of the
    /// caller's own repository.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Unauthenticated | Self::KeyEnded(_) => "unauthenticated",
            Self::Forbidden { .. } => "permission_missing",
            Self::OrganizationDiffers => "organization_differs",
            Self::Invalid { .. } => "request_invalid",
            Self::Refused { code, .. }
            | Self::TooMany { code, .. }
            | Self::Busy { code, .. }
            | Self::Other { code, .. } => code,
            Self::TooLarge { .. } => "body_too_large",
            Self::TooSlow => "body_too_slow",
            Self::CutOff => "body_cut_off",
            Self::Malformed => "malformed_http",
            Self::HeadersTooSlow => "headers_too_slow",
            Self::UriTooLong { .. } => "uri_too_long",
            Self::HeadersTooLarge { .. } => "headers_too_large",
            Self::RateLimited { .. } => "rate_limited",
            Self::TooManyConnections => "too_many_connections",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::BodiesFull { owner: Some(_) } => "too_many_body_bytes",
            Self::BodiesFull { owner: None } => "overloaded",
            Self::StillRunning { .. } => "request_in_progress",
            Self::Interrupted { .. } => "operation_interrupted",
            Self::RunEnded => "run_ended",
            Self::ShuttingDown => "shutting_down",
            Self::NotReady { .. } => "not_ready",
            Self::Internal { .. } => "internal",
            _ if self.is_anonymous() => "not_found",
            Self::NotFound => "not_found",
            Self::Registry(error) => error.code(),
            Self::Runner(error) => error.code(),
            Self::Builder(error) => error.code(),
            Self::Repository(error) => error.code(),
            Self::InBuild { error, .. } => error.code(),
        }
    }

    /// Whether all errors of this kind look the same: the resource may be another organisation's. A branch, commit or directory
    /// is only searched in the caller's own repository, and a deprecated version only in a tool that the caller may invoke; a turn
    /// is the caller's own. So their names reveal nothing.
    pub(super) fn is_anonymous(&self) -> bool {
        let is_part_of_a_visible_object = match self {
            Self::Repository(error) => error.kind() == repository::ErrorKind::Missing,
            Self::InBuild { error, .. } => !error.is_anonymous(),
            Self::Runner(runner::Error::VersionDeprecated(_) | runner::Error::ToolNotPresented { .. }) => true,
            _ => false,
        };
        self.kind() == Kind::NotFound && !is_part_of_a_visible_object
    }

    /// Whether the text is meant for callers. Texts of the registry may name paths of the machine.
    pub(super) const fn is_presentable(&self) -> bool {
        !matches!(self, Self::Registry(_))
    }

    /// The time after which a client may try again.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. }
            | Self::Runner(
                runner::Error::Overloaded { retry_after }
                | runner::Error::TooManyRuns { retry_after }
                | runner::Error::InputsFull { retry_after, .. },
            )
            | Self::Builder(
                builder::Error::Overloaded { retry_after }
                | builder::Error::TooManyBuilds { retry_after }
                | builder::Error::NoWorker { retry_after }
                | builder::Error::WorkerLost { retry_after },
            ) => Some(*retry_after),
            Self::StillRunning { .. } => Some(RETRY_AFTER),
            error => matches!(error.kind(), Kind::TooManyRequests | Kind::Unavailable).then_some(RETRY_AFTER),
        }
    }
}

/// A continuation token comes from the query alone, so its location is known.
impl From<registry::Error> for Error {
    fn from(error: registry::Error) -> Self {
        match error {
            registry::Error::PageTokenUnknown => {
                let location = vec!["query".into(), "continuation_token".into()];
                Self::Invalid { problems: vec![Problem::new(location, "value_error", error.to_string())] }
            }
            error => Self::Registry(error),
        }
    }
}

/// An error that an inner crate passes on is classified as the crate that raised it.
impl From<runner::Error> for Error {
    fn from(error: runner::Error) -> Self {
        match error {
            runner::Error::Store(error) => error.into(),
            error => Self::Runner(error),
        }
    }
}

impl From<repository::Error> for Error {
    fn from(error: repository::Error) -> Self {
        match error {
            repository::Error::Shared(error) => error.into(),
            error => Self::Repository(error),
        }
    }
}

impl From<builder::Error> for Error {
    fn from(error: builder::Error) -> Self {
        match error {
            builder::Error::Store(error) => error.into(),
            builder::Error::Runner(error) => error.into(),
            builder::Error::Repository(error) => error.into(),
            builder::Error::Recorded { build, error } => Self::InBuild { build, error: Box::new((*error).into()) },
            error => Self::Builder(error),
        }
    }
}

fn classify_registry_kind(kind: registry::ErrorKind) -> Kind {
    match kind {
        registry::ErrorKind::NotFound => Kind::NotFound,
        registry::ErrorKind::Conflict => Kind::Conflict,
        registry::ErrorKind::Invalid => Kind::BadRequest,
        registry::ErrorKind::Unavailable => Kind::Unavailable,
        registry::ErrorKind::Corrupt | registry::ErrorKind::Internal => Kind::Internal,
    }
}

impl From<runner::ErrorKind> for Kind {
    fn from(kind: runner::ErrorKind) -> Self {
        match kind {
            runner::ErrorKind::NotFound => Self::NotFound,
            runner::ErrorKind::Forbidden => Self::Forbidden,
            runner::ErrorKind::Conflict => Self::Conflict,
            runner::ErrorKind::Invalid => Self::BadRequest,
            runner::ErrorKind::TooMany => Self::TooManyRequests,
            runner::ErrorKind::Unavailable => Self::Unavailable,
            runner::ErrorKind::Internal => Self::Internal,
        }
    }
}

fn classify_builder_kind(kind: builder::ErrorKind) -> Kind {
    match kind {
        builder::ErrorKind::BadRequest => Kind::BadRequest,
        builder::ErrorKind::NotFound => Kind::NotFound,
        builder::ErrorKind::TooMany => Kind::TooManyRequests,
        builder::ErrorKind::Unavailable => Kind::Unavailable,
        builder::ErrorKind::Store | builder::ErrorKind::Runner | builder::ErrorKind::Internal => Kind::Internal,
    }
}

fn classify_repository_kind(kind: repository::ErrorKind) -> Kind {
    match kind {
        repository::ErrorKind::BadRequest => Kind::BadRequest,
        repository::ErrorKind::Missing | repository::ErrorKind::NotFound => Kind::NotFound,
        repository::ErrorKind::Forbidden => Kind::Forbidden,
        repository::ErrorKind::TooLarge => Kind::TooLarge,
        repository::ErrorKind::UnknownForm => Kind::UnsupportedMediaType,
        repository::ErrorKind::Unavailable => Kind::Unavailable,
        repository::ErrorKind::Internal => Kind::Internal,
    }
}
