//! Arguments of the Library's tools that are not fields of a family. They match the input schema of the tool.

use registry::LibraryItemId;
use serde_json::{Map, Value};

use super::answer::{Failure, not_found};
use super::record::Record;

/// Items of a list that does not say how many.
pub(super) const LIMIT_DEFAULT: u32 = 50;
pub(super) const LIMIT_MAX: u32 = 200;
/// Results of a search that does not say how many.
pub(super) const SEARCH_LIMIT_DEFAULT: u32 = 10;
pub(super) const SEARCH_LIMIT_MAX: u32 = 50;
/// Characters of a query: more than a question has.
pub(super) const QUERY_CHARACTERS_MAX: u32 = 2_000;
/// Characters of an id: more than any id has, so that a wrong one is told as an unknown one.
pub(super) const ID_CHARACTERS_MAX: u32 = 64;
/// Characters of a tag, and of the label by which a list is filtered.
pub(super) const LABEL_CHARACTERS_MAX: u32 = 64;
/// Characters of the result of a task: a task keeps fifty of them.
pub(super) const RESULT_CHARACTERS_MAX: u32 = 4_096;
pub(super) const OFFSET_MAX: u32 = 100_000;

/// Removes the id from the arguments. What is no id names no item.
pub(super) fn take_id<R: Record>(arguments: &mut Map<String, Value>) -> Result<LibraryItemId, Failure> {
    let id = arguments.remove(R::ID).unwrap_or_default();
    let parsed = id.as_str().and_then(|id| LibraryItemId::parse(id).ok());
    parsed.ok_or_else(|| not_found(R::FAMILY.as_str()))
}

/// Reads a whole number from 0 to `max`.
pub(super) fn read_number(arguments: &Map<String, Value>, name: &str, default: u32) -> u32 {
    let given = arguments.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    given.unwrap_or(default)
}
