//! The fields of the items of a family.

use registry::suggest_in;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::{Failure, forbidden, invalid};
use crate::domain::library::{LibraryContent, LibraryFamily, LibraryItem};
use crate::store::Library;

/// An item of a family, as its callers write it.
pub(super) trait Record: Serialize + DeserializeOwned + JsonSchema {
    const FAMILY: LibraryFamily;
    /// The field with the id of an item, such as `memory_id`.
    const ID: &'static str;
    /// The field by which lists are filtered, if there is one.
    const LABEL: Option<&'static str> = None;
    /// Whether items have tags, by which lists are filtered.
    const HAS_TAGS: bool = true;
    /// A field that is too large for lists.
    const CONTENT: Option<&'static str> = None;
    /// A field that is unique among the items of an owner.
    const KEY: Option<&'static str> = None;
    /// A parameter of lists, and the field that must then be true.
    const SWITCH: Option<(&'static str, &'static str)> = None;
    /// Whether agents and workflows can neither change nor delete what a user wrote.
    const IS_FIXED_BY_USERS: bool = false;
    /// Fields that the server sets. Callers cannot write them.
    const SERVER_FIELDS: &'static [&'static str] = &[];

    /// Derives fields from others.
    fn complete(&mut self) {}
}

/// Refuses a change of what only its user may change.
pub(super) fn require_not_fixed<R: Record>(item: &LibraryItem, library: &Library) -> Result<(), Failure> {
    if R::IS_FIXED_BY_USERS && item.provenance.is_trusted && !library.is_trusted() {
        return Err(forbidden("the user wrote this item: only the user, without an agent or a workflow, changes it"));
    }
    Ok(())
}

/// Reads and completes the fields of an item.
pub(super) fn build_content<R: Record>(fields: Map<String, Value>) -> Result<LibraryContent, Failure> {
    let mut record: R =
        serde_json::from_value(Value::Object(fields)).map_err(|error| invalid(suggest_in(error.to_string())))?;
    record.complete();
    let body = match serde_json::to_value(record) {
        Ok(Value::Object(body)) => body,
        Ok(_) => return Err(Failure::internal("an item is no object")),
        Err(error) => return Err(Failure::internal(error)),
    };
    let text = |name: Option<&str>| name.and_then(|name| body[name].as_str()).map(ToOwned::to_owned);
    let tags = if R::HAS_TAGS { body["tags"].as_array() } else { None };
    let tags = tags.into_iter().flatten().filter_map(|tag| tag.as_str().map(ToOwned::to_owned));
    let switched = R::SWITCH.map(|(_, field)| field).filter(|field| body[*field] == true).map(ToOwned::to_owned);
    let tags = tags.chain(switched).collect();
    Ok(LibraryContent { key: text(R::KEY), label: text(R::LABEL), tags, due_at: None, body })
}
