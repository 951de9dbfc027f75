//! Saying what is not there, where the server only says that something is not.

use crate::failure::Failure;

/// Names the thing that a 404 was about.
pub fn absent<T>(answer: anyhow::Result<T>, what: &str, hint: &str) -> anyhow::Result<T> {
    let is_absent =
        |error: &anyhow::Error| matches!(error.downcast_ref::<Failure>(), Some(Failure::Server { status: 404, .. }));
    answer
        .map_err(|error| if is_absent(&error) { Failure::refused(format!("there is no {what}"), hint) } else { error })
}
