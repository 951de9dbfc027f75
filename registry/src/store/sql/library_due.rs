//! Items of the Library whose time has come.

use serde::Serialize;

use super::library::read;
use super::list::List;
use super::row::{get, to_json};
use crate::clock::Timestamp;
use crate::error::Result;
use crate::library::{LibraryContent, LibraryItem};
use crate::store::database::{Connection, Query, Row};
use crate::store::handle::Store;

/// Items of one transaction. All other writes wait for it.
const BATCH: i64 = 100;

/// The items that are due. A deleted item never is: its deletion takes its time.
macro_rules! due {
    ($columns:literal) => {
        concat!("SELECT ", $columns, " FROM library_items WHERE due_at <= $1 ORDER BY due_at LIMIT $2")
    };
}

const IS_DUE: &str = due!("item");
const DUE_ITEMS: &str = due!("*");

const TIME: &str = "SELECT {now} AS now";

/// What wrote the present revision stays as it is.
const ADVANCE: &str =
    "UPDATE library_items SET label = made.label, body = made.body, due_at = made.due_at, updated_at = $1,
        revision = library_items.revision + 1
    FROM {records $2 organization TEXT, item TEXT, label TEXT, body TEXT, due_at INTEGER} made
    WHERE library_items.organization = made.organization AND library_items.item = made.item";

/// Returns what an item becomes at its time. It is due at a later time then, or never again.
pub type Advance = fn(&LibraryItem, Timestamp) -> LibraryContent;

/// A row that [`ADVANCE`] writes.
#[derive(Serialize)]
struct Advanced<'a> {
    organization: &'a str,
    item: &'a str,
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

    /// Changes some of the items that are due, those that have waited longest first. Returns their number; 0 when no item is due.
    ///
    /// No two servers do this at the same time, and a change is there completely or not at all.
    pub async fn advance_due_items(&self, now: Timestamp, advance: Advance) -> Result<u64> {
        let is_due = Query::new(IS_DUE).bind(now.as_milliseconds()).bind(1_i64);
        if is_due.fetch_optional(self.readers()).await?.is_none() {
            return Ok(0);
        }
        self.write(move |connection| Box::pin(advance_batch(connection, now, advance))).await
    }
}

async fn advance_batch(connection: &mut Connection, now: Timestamp, advance: Advance) -> Result<u64> {
    let query = Query::new(DUE_ITEMS).bind(now.as_milliseconds()).bind(BATCH);
    let rows = query.fetch_all(&mut *connection).await?;
    let mut list = List::default();
    for row in &rows {
        list.push(&to_json(&advanced(row, now, advance)?)?);
    }
    let Some(list) = list.bound() else { return Ok(0) };
    let query = Query::new(ADVANCE).bind(now.as_milliseconds()).bind(list);
    Ok(query.execute(connection).await?)
}

/// A damaged item is due no more, so that the others do not wait for it.
fn advanced(row: &Row, now: Timestamp, advance: Advance) -> Result<Advanced<'_>> {
    let (organization, item) = (get(row, "organization")?, get(row, "item")?);
    let found = match read(row) {
        Ok(found) => found,
        Err(error) => {
            tracing::error!(%error, organization, item, "a damaged item of the library is due no more");
            let (label, body) = (get(row, "label")?, get(row, "body")?);
            return Ok(Advanced { organization, item, label, body, due_at: None });
        }
    };
    let LibraryContent { label, body, due_at, .. } = advance(&found, now);
    // An item that stays due would be changed again and again.
    let due_at = due_at.filter(|due_at| *due_at > now).map(Timestamp::as_milliseconds);
    Ok(Advanced { organization, item, label, body: to_json(&body)?, due_at })
}
