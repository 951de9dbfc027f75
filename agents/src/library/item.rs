//! Items as the tools return them.

use serde_json::{Map, Value, json};

use super::record::Record;
use crate::domain::library::LibraryItem;

/// An item with all of its fields.
pub(super) fn show_item<R: Record>(item: LibraryItem) -> Value {
    let LibraryItem { id, owner, app, body, revision, provenance, created_at, updated_at, .. } = item;
    let mut shown = Map::from_iter([(R::ID.to_owned(), json!(id))]);
    shown.extend(body);
    let provenance = json!({
        "invocation_id": provenance.invocation, "agent_id": provenance.agent, "workflow_id": provenance.workflow,
        "trusted": provenance.is_trusted,
    });
    let rest = [
        ("owner", json!(owner.user())),
        ("app_id", json!(app)),
        ("revision", json!(revision)),
        ("created_at", json!(created_at.to_string())),
        ("updated_at", json!(updated_at.to_string())),
        ("provenance", provenance),
    ];
    shown.extend(rest.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(shown)
}

/// An item in a list: a large field is left out.
pub(super) fn show_listed_item<R: Record>(mut item: LibraryItem) -> Value {
    if let Some(content) = R::CONTENT {
        item.body.remove(content);
    }
    show_item::<R>(item)
}
