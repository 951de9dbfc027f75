//! The errors of the API and their mapping to HTTP.
//!
//! A handler returns [`Error`]; errors of the inner crates convert by `?` and are classified here. The body of an error
//! is `{"detail", "code"}`; for 422, `detail` is a list of problems. A fault (500) is logged once and shows the caller
//! only the request id.
//!
//! A missing object and an object of another organisation give the same bytes, whatever the inner error says. Only a branch, a
//! commit or a directory that is missing in the caller's own repository is named.

mod classify;
mod pointers;
mod problem;
mod render;

use std::time::Duration;

use registry::{BuildId, KeyEnd, OperationId, Permission, RunId};

pub use problem::{LocationStep, Problem};
pub use render::{Fault, Refusal, RefusalCode};

/// The error of a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("Not found.")]
    NotFound,
    #[error("The method is not allowed for this path.")]
    MethodNotAllowed,
    #[error("Credentials are missing, expired or wrong.")]
    Unauthenticated,
    /// The secret of the key is right, so its holder may know more than others.
    #[error("{}", describe_key_end(.0))]
    KeyEnded(KeyEnd),
    #[error(
        "The operation needs the permission {permission}, which your role does not grant. An administrator of the organization \
         grants it: `lathe role list` shows the roles with it, `lathe user edit USER --role ROLE` gives a user one of them."
    )]
    Forbidden { permission: Permission },
    #[error("The header x-org-id names another organization than that of the credentials.")]
    OrganizationDiffers,
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
    #[error("The request is not valid HTTP/1.1: its first line, its headers or its framing is wrong.")]
    Malformed,
    #[error("The headers arrived too slowly.")]
    HeadersTooSlow,
    #[error("Path and query should have at most {bytes_max} bytes.")]
    UriTooLong { bytes_max: usize },
    #[error("A request should have at most {headers_max} headers of {bytes_max} bytes together.")]
    HeadersTooLarge { headers_max: usize, bytes_max: usize },
    #[error("The limit of this operation is {per_minute} requests a minute per user; try again in {} s.", round_up_to_seconds(*.retry_after))]
    RateLimited { per_minute: u32, retry_after: Duration },
    #[error(
        "The server, or the address of this client, has as many connections as it may have, and all of them have requests in \
         progress. End one of them, such as a stream that listens, or try again shortly."
    )]
    TooManyConnections,
    /// A limit of the caller, its organisation or its address is reached.
    #[error("{detail}")]
    TooMany { code: &'static str, detail: String },
    #[error(
        "This {owner} has {limit} {} in progress, which is the most it may have; wait until one of them has ended.",
        if *.limit == 1 { "request" } else { "requests" }
    )]
    TooManyRequests { owner: &'static str, limit: usize },
    /// A limit of the server is reached.
    #[error("{detail}")]
    Busy { code: &'static str, detail: &'static str },
    #[error(
        "The server is reading as many bytes of request bodies {}as it may; try again shortly.",
        .owner.map(|owner| format!("for this {owner} ")).unwrap_or_default()
    )]
    BodiesFull { owner: Option<&'static str> },
    #[error("The request with this idempotency key is still running.")]
    StillRunning { operation: OperationId },
    #[error("{}", describe_interruption(.runs))]
    Interrupted { operation: OperationId, runs: Vec<RunId> },
    #[error("The run is not in progress.")]
    RunEnded,
    #[error("The server is shutting down.")]
    ShuttingDown,
    #[error("Not ready: {part}: {reason}")]
    NotReady { part: &'static str, reason: &'static str },
    #[error("{detail}")]
    Internal { detail: String },
    /// An error of a crate that this layer does not know.
    #[error("{detail}")]
    Other { kind: Kind, code: &'static str, detail: String },
    #[error(transparent)]
    Registry(registry::Error),
    #[error(transparent)]
    Runner(runner::Error),
    #[error(transparent)]
    Builder(builder::Error),
    #[error(transparent)]
    Repository(repository::Error),
    /// The error of a build whose log is stored.
    #[error("{error}")]
    InBuild { build: BuildId, error: Box<Self> },
}

/// The kind of an error. Each kind is one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The request is well formed, but cannot succeed in the current state.
    BadRequest,
    /// The credentials are missing or wrong.
    Unauthenticated,
    /// The caller lacks the permission.
    Forbidden,
    /// The resource does not exist, or the caller cannot see it.
    NotFound,
    MethodNotAllowed,
    /// The client sent too slowly.
    Timeout,
    /// The request conflicts with an existing resource or with a running operation.
    Conflict,
    TooLarge,
    /// The encoding of the body is not supported.
    UnsupportedMediaType,
    UriTooLong,
    HeadersTooLarge,
    /// The form of the request is invalid.
    Invalid,
    /// The caller or its organisation reached a limit.
    TooManyRequests,
    /// The server failed.
    Internal,
    /// The server cannot handle the request now.
    Unavailable,
}

/// Whole seconds, rounded up, so that a client that waits as long as told is not refused again.
pub fn round_up_to_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn describe_key_end(end: &KeyEnd) -> String {
    let ended = match end {
        KeyEnd::Expired { at } => format!("The API key expired at {at}."),
        KeyEnd::Revoked { at } => format!("The API key was revoked at {at}."),
    };
    format!(
        "{ended} Sign in with another key of the user: `lathe key create` makes one, `lathe key create --user USER` of an \
         administrator makes one for a user without a key."
    )
}

fn describe_interruption(runs: &[RunId]) -> String {
    match runs.len() {
        0 => "The server stopped before the operation did anything. Send the request again.".to_owned(),
        begun => format!(
            "The operation was cut off. Runs that had begun: {begun}. The history has their outcomes, under \
             the invocation_ids; to run the operation again, use a new key."
        ),
    }
}

#[cfg(test)]
mod tests {
    /// Handlers return the error by value.
    #[test]
    fn an_error_is_small() {
        let bytes = size_of::<super::Error>();
        assert!(bytes < 128, "{bytes} bytes");
    }
}
