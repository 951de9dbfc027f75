//! Errors of agents as errors of the API.

use crate::error::Error;

/// An error that an inner crate passes on is classified as the crate that raised it.
impl From<agents::Error> for Error {
    fn from(error: agents::Error) -> Self {
        match error {
            agents::Error::Store(error) => error.into(),
            agents::Error::Runner(error) => error.into(),
            error => Self::Other { kind: error.kind().into(), code: error.code(), detail: error.to_string() },
        }
    }
}
