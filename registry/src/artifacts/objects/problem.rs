//! Messages about failed requests to a bucket: what is wrong, and what to do.

use std::error::Error as _;

use object_store::Error as Failure;

use crate::artifacts::storage_url::StorageUrl;

/// Codes of a bucket that does not exist: S3 and Google Cloud Storage have one, Azure has another.
const NO_BUCKET: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];

/// Codes of credentials that the service does not accept, as opposed to credentials without a permission.
const BAD_CREDENTIALS: [&str; 6] = [
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "ExpiredToken",
    "AuthenticationFailed",
    "AuthFailure",
];

/// Bytes of a service's own message that a message of ours shows.
const DETAIL_BYTES_MAX: usize = 400;

/// The kind of a request.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    Read,
    Write,
    List,
    Delete,
}

impl Action {
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::List => "list",
            Self::Delete => "delete",
        }
    }
}

/// Whether the object is absent, in a bucket that exists.
pub fn is_absent(error: &Failure) -> bool {
    matches!(error, Failure::NotFound { .. }) && !has_code(error, &NO_BUCKET)
}

pub fn describe(url: &StorageUrl, action: Action, error: &Failure) -> String {
    let verb = action.verb();
    let credentials = url.provider().credentials();
    if has_code(error, &NO_BUCKET) {
        return format!("the bucket `{}` does not exist. Create it, or correct the URL", url.bucket());
    }
    if matches!(error, Failure::Unauthenticated { .. }) || has_code(error, &BAD_CREDENTIALS) {
        return format!("the service refuses the credentials. Correct {credentials}: {}", describe_failure(error));
    }
    match error {
        Failure::PermissionDenied { .. } => format!(
            "no permission to {verb} objects. Give the credentials the permissions to read, write, list and delete objects: {}",
            describe_failure(error)
        ),
        _ => format!(
            "a request to {verb} objects fails. Check that the service is reachable, and {credentials}: {}",
            describe_failure(error)
        ),
    }
}

fn has_code(error: &Failure, codes: &[&str]) -> bool {
    let text = error.to_string();
    codes.iter().any(|code| text.contains(code))
}

/// The messages of the error and of its causes that add something, on one line.
fn describe_failure(error: &Failure) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.truncate(line.floor_char_boundary(DETAIL_BYTES_MAX));
    line
}
