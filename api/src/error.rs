//! Every refusal and fault that leaves the API, and the one place that maps them to HTTP.
//!
//! A handler returns [`Error`]; the inner crates' errors convert by `?` and are classified here. What a caller reads
//! is `{"detail", "code"}`; 422 carries a list of problems. A fault (5xx that is not a plain "later") is logged once
//! by [`crate::request_id`] and shows the caller the request id only.
//!
//! A missing object and an object of another organisation give the same bytes, whatever the inner error says.

mod classify;
mod render;

use registry::Permission;

use crate::extract::Problem;

pub(crate) use render::Fault;

/// What went wrong with a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("Not found.")]
    NotFound,
    #[error("This method is not allowed here.")]
    MethodNotAllowed,
    #[error("Credentials are missing, expired or wrong.")]
    Unauthenticated,
    #[error("This needs the permission {permission}.")]
    Forbidden { permission: Permission },
    #[error("The request is not valid.")]
    Invalid { problems: Vec<Problem> },
    #[error("{detail}")]
    Refused { code: &'static str, detail: String },
    #[error("The body should have at most {bytes_max} bytes.")]
    TooLarge { bytes_max: usize },
    #[error("The body arrived too slowly.")]
    TooSlow,
    #[error("The body was cut off.")]
    CutOff,
    #[error("The server is shutting down.")]
    ShuttingDown,
    #[error("{detail}")]
    Internal { detail: String },
    #[error(transparent)]
    Registry(registry::Error),
    #[error(transparent)]
    Runner(runner::Error),
    #[error(transparent)]
    Builder(builder::Error),
    #[error(transparent)]
    Source(#[from] builder::source::SourceError),
}

/// What a caller can do about it; each kind is one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The request is understood and cannot succeed as things are.
    BadRequest,
    /// Sign in first.
    Unauthenticated,
    /// Signed in, without the right.
    Forbidden,
    /// It does not exist, or not for this caller.
    NotFound,
    MethodNotAllowed,
    /// The client stopped sending.
    Timeout,
    /// Another thing or a running operation is in the way.
    Conflict,
    TooLarge,
    /// The form of the request is wrong.
    Invalid,
    /// A fault of ours.
    Internal,
    /// Later may work.
    Unavailable,
}
