//! Users of the organisation, for its administrators.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod set_role;
pub(crate) mod show;

use serde_json::{Value, json};

/// An example of a user, for the OpenAPI document.
fn user_example() -> Value {
    json!({"user_id": "bob", "org_id": "acme", "role": "searcher", "created_at": "2026-11-20T21:32:05.000Z"})
}
