//! Items of the Library whose time has come.

use serde::Serialize;

use super::library::read;
use super::list::List;
use super::row::{get, to_json};
use crate::clock::Timestamp;
use crate::error::Result;
use crate::library::{LibraryContent, LibraryItem};
use crate::store::database::{Query, Row};
use crate::store::handle::Store;

/// Items of one transaction. All other writes wait for it.
const BATCH: i64 = 100;

/// The items that are due. A deleted item never is: its deletion takes its time.
const DUE_ITEMS: &str = "SELECT * FROM library_items WHERE due_at <= $1 ORDER BY due_at LIMIT $2";

const TIME: &str = "SELECT {now} AS now";

/// Leaves out items that were changed since they were read, by another server or by a user. The provenance stays as it is.
const ADVANCE: &str =
    "UPDATE library_items SET label = made.label, body = made.body, due_at = made.due_at, updated_at = $1,
        revision = library_items.revision + 1
    FROM {records $2 organization TEXT, item TEXT, seen INTEGER, label TEXT, body TEXT, due_at INTEGER} made
    WHERE library_items.organization = made.organization AND library_items.item = made.item
        AND library_items.revision = made.seen";

/// Returns the content of an item after its time has come. Its time is later then, or there is none.
pub type Advance = fn(&LibraryItem, Timestamp) -> LibraryContent;

/// A row that [`ADVANCE`] writes.
#[derive(Serialize)]
struct Advanced<'a> {
    organization: &'a str,
    item: &'a str,
    /// The revision that was read.
    seen: i64,
    label: Option<String>,
    body: String,
    due_at: Option<i64>,
}

impl Store {
    /// The time on the clock of the database, which is the same for all of its servers.
    pub async fn database_time(&self) -> Result<Timestamp> {
        let now = Query::new(TIME).fetch_column("now", self.readers()).await?;
        Ok(Timestamp::from_milliseconds(now))
    }

    /// Changes some of the items that are due, those that have waited longest first. Returns the number of items that this call
    /// changed: of several servers, one changes an item.
    pub async fn advance_due_items(&self, now: Timestamp, advance: Advance) -> Result<u64> {
        let query = Query::new(DUE_ITEMS).bind(now.as_milliseconds()).bind(BATCH);
        let rows = query.fetch_all(self.readers()).await?;
        let mut list = List::default();
        for row in &rows {
            list.push(&to_json(&advanced(row, now, advance)?)?);
        }
        let Some(list) = list.bound() else { return Ok(0) };
        let query = Query::new(ADVANCE).bind(now.as_milliseconds()).bind(list);
        self.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) })).await
    }
}

/// A damaged item is due no more, so that the others do not wait for it.
fn advanced(row: &Row, now: Timestamp, advance: Advance) -> Result<Advanced<'_>> {
    let (organization, item, seen) = (get(row, "organization")?, get(row, "item")?, get(row, "revision")?);
    let found = match read(row) {
        Ok(found) => found,
        Err(error) => {
            tracing::error!(%error, organization, item, "a damaged item of the library is due no more");
            let (label, body) = (get(row, "label")?, get(row, "body")?);
            return Ok(Advanced { organization, item, seen, label, body, due_at: None });
        }
    };
    let LibraryContent { label, body, due_at, .. } = advance(&found, now);
    // An item that stays due would be changed again and again.
    let due_at = due_at.filter(|due_at| *due_at > now).map(Timestamp::as_milliseconds);
    Ok(Advanced { organization, item, seen, label, body: to_json(&body)?, due_at })
}
