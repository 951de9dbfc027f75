//! Every refusal and fault that leaves the API, and the one place that maps them to HTTP.
//!
//! A handler returns [`Error`]; the inner crates' errors convert by `?` and are classified here. What a caller reads
//! is `{"detail", "code"}`; 422 carries a list of problems. A fault (5xx that is not a plain "later") is logged once
//! by [`crate::trail`] and shows the caller the request id only.
//!
//! A missing object and an object of another organisation give the same bytes, whatever the inner error says.

mod classify;
mod pointers;
mod render;

use std::time::Duration;

use registry::{BuildId, InvocationId, OperationId, Permission};

use crate::extract::Problem;

pub(crate) use render::{Fault, Refusal};

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
    #[error("This is no request in HTTP/1.1: something is wrong with its first line, its headers or its framing.")]
    Malformed,
    #[error("The headers arrived too slowly.")]
    HeadersTooSlow,
    #[error("Path and query should have at most {bytes_max} bytes.")]
    UriTooLong { bytes_max: usize },
    #[error("A request should have at most {headers_max} headers of {bytes_max} bytes together.")]
    HeadersTooLarge { headers_max: usize, bytes_max: usize },
    #[error("A user may do this {per_minute} times a minute; try again in {} s.", whole_seconds(*.retry_after))]
    RateLimited { per_minute: u32, retry_after: Duration },
    #[error("The server has as many connections as it can hold; try again shortly.")]
    TooManyConnections,
    #[error("The request with this key is still running.")]
    StillRunning { operation: OperationId },
    #[error("{}", interrupted(.runs))]
    Interrupted { operation: OperationId, runs: Vec<InvocationId> },
    #[error("The server is shutting down.")]
    ShuttingDown,
    #[error("Not ready: {part}: {reason}")]
    NotReady { part: &'static str, reason: &'static str },
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
    /// What ended a build whose log is kept.
    #[error("{error}")]
    InBuild { build: BuildId, error: Box<Self> },
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
    UriTooLong,
    HeadersTooLarge,
    /// The form of the request is wrong.
    Invalid,
    /// The caller, or its organisation, has had its share for now.
    TooManyRequests,
    /// A fault of ours.
    Internal,
    /// Later may work.
    Unavailable,
}

/// Rounded up, so that who waits as long as told is not refused again.
pub(crate) fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn interrupted(runs: &[InvocationId]) -> String {
    match runs.len() {
        0 => "The server stopped before anything was done. Send the request again.".to_owned(),
        begun => format!(
            "The server stopped while this was running. Runs that had begun: {begun}. What became of them is in the \
             history, under the invocation_ids; to run it again, take another key."
        ),
    }
}
