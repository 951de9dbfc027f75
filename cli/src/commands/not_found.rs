//! Names what a 404 is about. The server's own message does not name it.

use crate::failure::Failure;

/// Replaces a 404 by an error that names `what`.
pub fn named<T>(answer: anyhow::Result<T>, what: &str, hint: &str) -> anyhow::Result<T> {
    answer.map_err(|error| match error.downcast_ref::<Failure>() {
        Some(Failure::Server { status: 404, .. }) => Failure::refused(format!("there is no {what}"), hint),
        _ => error,
    })
}
