//! Counting the uses of items of the Library.

use registry::statements::{Row, get, read_json, to_json};
use registry::{LibraryItemId, Result};
use serde_json::{Map, Value, json};

use super::item::Library;
use crate::domain::library::LibraryFamily;

const BODY: &str = "SELECT body FROM library_items
    WHERE organization = $1 AND family = $2 AND owner = $3 AND app = $4 AND item = $5 AND deleted_at IS NULL";

/// Changes nothing when another server has changed the item meanwhile. The revision stays: the fields of the user are the same.
const COUNT: &str = "UPDATE library_items SET body = $6
    WHERE organization = $1 AND family = $2 AND owner = $3 AND app = $4 AND item = $5 AND body = $7";

/// The field with the number of uses.
const FIELD: &str = "usage_count";

impl Library {
    /// Counts a use of an item of the user. A use at the moment of a change or of another use may not be counted.
    pub async fn count_use(&self, family: LibraryFamily, item: &LibraryItemId) -> Result<()> {
        let shelf = self.shelf(family);
        let item = item.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let query = shelf.query(BODY).bind(item.as_str());
                    let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(()) };
                    let counted = shelf.query(COUNT).bind(item.as_str()).bind(add_use(&row)?);
                    let counted = counted.bind(get::<&str>(&row, "body")?);
                    counted.execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }
}

/// The body of a row after one more use.
fn add_use(row: &Row) -> Result<String> {
    let mut body: Map<String, Value> = read_json(row, "body")?;
    let uses = body.get(FIELD).and_then(Value::as_u64).unwrap_or_default();
    body.insert(FIELD.to_owned(), json!(uses.saturating_add(1)));
    to_json(&body)
}
