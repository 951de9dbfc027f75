//! The index of the memories, for searches: the words of each memory, and its vector once there is one.
//!
//! The index changes in the transaction of its item. Each change of it within a scope has a position, by which servers find what they
//! have not read: the row of the scope is locked until the commit, so that positions become visible in their order.

use registry::statements::{Connection, Query, to_signed};
use registry::{LibraryItemId, Result, Timestamp, extract_words};
use serde_json::{Map, Value};

use crate::domain::library::LibraryScope;

const NEXT_CHANGE: &str = "INSERT INTO library_scopes (organization, owner, app, changes) VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization, owner, app) DO UPDATE SET changes = library_scopes.changes + $4 RETURNING changes";

const ADD_TO_INDEX: &str = "INSERT INTO library_index
        (organization, owner, app, item, change, words, importance, updated_at, model)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '')
    ON CONFLICT (organization, item) DO UPDATE SET change = excluded.change, words = excluded.words,
        importance = excluded.importance, updated_at = excluded.updated_at, model = '', vector = NULL";

const REMOVE_FROM_INDEX: &str = "UPDATE library_index SET change = $5, words = '', model = NULL, vector = NULL
    WHERE organization = $1 AND owner = $2 AND app = $3 AND item = $4";

const COUNT_CHANGE: &str = "INSERT INTO library_corpora (organization, changes, learned, embedded, model)
    VALUES ($1, 1, 0, 0, '') ON CONFLICT (organization) DO UPDATE SET changes = library_corpora.changes + 1";

/// The fields of a memory that are searched.
const SEARCHED_FIELDS: [&str; 4] = ["content", "summary", "category", "tags"];

/// The number that stands for an importance of 1.
const IMPORTANCE_MAX: f64 = 1_000_000.0;

/// The searched part of a memory.
pub(super) struct IndexEntry {
    item: LibraryItemId,
    words: String,
    importance: i64,
    updated_at: Timestamp,
}

impl IndexEntry {
    pub fn new(item: &LibraryItemId, body: &Map<String, Value>, updated_at: Timestamp) -> Self {
        Self {
            item: item.clone(),
            words: extract_words(&build_searched_text(body)),
            importance: read_importance(body),
            updated_at,
        }
    }

    /// Writes the entry in place of an older one.
    pub async fn write(&self, scope: &LibraryScope, connection: &mut Connection) -> Result<()> {
        let change = next_changes(scope, 1, connection).await?;
        let query = bind_scope(ADD_TO_INDEX, scope).bind(self.item.as_str()).bind(change).bind(self.words.as_str());
        query.bind(self.importance).bind(self.updated_at.as_milliseconds()).execute(&mut *connection).await?;
        Query::new(COUNT_CHANGE).bind(scope.organization.as_str()).execute(connection).await?;
        Ok(())
    }
}

/// Removes words and vector of an item, if it has any.
pub(super) async fn remove_from_index(
    scope: &LibraryScope,
    item: &LibraryItemId,
    connection: &mut Connection,
) -> Result<()> {
    let change = next_changes(scope, 1, connection).await?;
    bind_scope(REMOVE_FROM_INDEX, scope).bind(item.as_str()).bind(change).execute(connection).await?;
    Ok(())
}

/// Takes positions for this many changes. Returns the last one.
pub(super) async fn next_changes(scope: &LibraryScope, count: u64, connection: &mut Connection) -> Result<i64> {
    bind_scope(NEXT_CHANGE, scope).bind(to_signed(count)).fetch_column("changes", connection).await
}

/// Binds a scope as `$1` to `$3`.
pub(super) fn bind_scope(statement: &'static str, scope: &LibraryScope) -> Query {
    let query = Query::new(statement).bind(scope.organization.as_str()).bind(scope.account.as_str());
    query.bind(scope.stored_app())
}

/// The text of a memory that is searched, a field a line.
pub(super) fn build_searched_text(body: &Map<String, Value>) -> String {
    let fields = SEARCHED_FIELDS.iter().filter_map(|field| body.get(*field));
    let texts = fields.flat_map(|value| match value {
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        value => Vec::from_iter(value.as_str()),
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[expect(clippy::cast_possible_truncation, reason = "the number is within 0 and IMPORTANCE_MAX")]
fn read_importance(body: &Map<String, Value>) -> i64 {
    let importance = body.get("importance").and_then(Value::as_f64).unwrap_or_default();
    (importance.clamp(0.0, 1.0) * IMPORTANCE_MAX) as i64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn content_summary_category_and_tags_are_searched() {
        let memory = json!({
            "content": "one", "summary": null, "tags": ["two", "three"], "category": "four", "kind": "five",
            "importance": 0.25,
        });
        let memory = memory.as_object().unwrap();
        assert_eq!((build_searched_text(memory).as_str(), read_importance(memory)), ("one\nfour\ntwo\nthree", 250_000));
        assert_eq!((build_searched_text(&Map::new()).as_str(), read_importance(&Map::new())), ("", 0));
    }
}
