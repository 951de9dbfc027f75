//! Names what a 404 is about. The server's usual message does not name it.

use crate::failure::Failure;

/// The server's message about everything that does not exist or belongs to another organisation.
const USUAL_DETAIL: &str = "Not found.";

/// Replaces a 404 without a message of its own by an error that names `what`.
pub fn named<T>(answer: anyhow::Result<T>, what: &str, hint: &str) -> anyhow::Result<T> {
    answer.map_err(|error| match error.downcast_ref::<Failure>() {
        Some(Failure::Server { status: 404, detail, .. }) if detail == USUAL_DETAIL => {
            Failure::coded("not_found", format!("there is no {what}"), hint)
        }
        _ => error,
    })
}
