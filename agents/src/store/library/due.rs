//! Items of the Library whose time has come.

use std::collections::HashMap;

use registry::statements::{Connection, List, Query, Row, get, to_json};
use registry::{AgentId, AgentRunId, Result, Timestamp};
use serde::Serialize;

use super::content::StoredFields;
use super::item::read;
use crate::domain::agent_runs::RunObjective;
use crate::domain::library::{LibraryContent, LibraryItem};
use crate::store::AgentStore;

/// Items of one transaction. All other writes wait for it.
const BATCH: i64 = 100;

/// The items that are due. A deleted item never is: its deletion takes its time.
const DUE_ITEMS: &str = "SELECT * FROM library_items WHERE due_at <= $1 ORDER BY due_at LIMIT $2";

const TIME: &str = "SELECT {now} AS now";

/// Leaves out items that were changed or deleted since they were read, by another server or by a user. The provenance stays as it is.
pub const ADVANCE: &str =
    "UPDATE library_items SET label = made.label, body = made.body, content_bytes = made.content_bytes, content = made.content,
        due_at = made.due_at, updated_at = $1, revision = library_items.revision + 1
    FROM {records $2 organization TEXT, item TEXT, seen INTEGER, label TEXT, body TEXT, content_bytes INTEGER, content TEXT, due_at INTEGER} made
    WHERE library_items.organization = made.organization AND library_items.item = made.item
        AND library_items.revision = made.seen AND library_items.deleted_at IS NULL
    RETURNING library_items.organization, library_items.item";

/// A run that no server has begun: one of them takes it over.
const START: &str = "INSERT INTO agent_runs
        (organization, agent_run, agent, account, kind, objective, state, iterations, document, boot, revision, created_at, updated_at,
        item)
    VALUES ($1, $2, $3, $4, 'agent', $7, 'running', 0, $5, '', 1, $6, $6, $8)";

/// Says what becomes of an item whose time has come.
pub type Advance<'a> = &'a (dyn Fn(&LibraryItem, Timestamp) -> AdvancedItem + Sync);

/// The new state of an item that is due.
pub struct AdvancedItem {
    /// The content. Its time is later then, or there is none.
    pub content: LibraryContent,
    /// A run of an agent, on behalf of the owner, that starts with the change.
    pub run: Option<DueRun>,
}

/// A run of an agent that starts because an item is due.
pub struct DueRun {
    pub id: AgentRunId,
    pub agent: AgentId,
    pub objective: RunObjective,
    pub document: String,
}

/// A row that [`ADVANCE`] writes.
#[derive(Serialize)]
struct Advanced<'a> {
    organization: &'a str,
    item: &'a str,
    /// The revision that was read.
    seen: i64,
    label: Option<String>,
    #[serde(flatten)]
    fields: StoredFields,
    due_at: Option<i64>,
}

impl AgentStore {
    /// The time on the clock of the database, which is the same for all of its servers.
    pub async fn read_database_time(&self) -> Result<Timestamp> {
        let now = Query::new(TIME).fetch_column("now", self.readers()).await?;
        Ok(Timestamp::from_milliseconds(now))
    }

    /// Changes some of the items that are due, those that have waited longest first. Returns the number of items that this call
    /// changed: of several servers, one changes an item.
    pub async fn advance_due_items(&self, now: Timestamp, advance: Advance<'_>) -> Result<u64> {
        let query = Query::new(DUE_ITEMS).bind(now.as_milliseconds()).bind(BATCH);
        let rows = query.fetch_all(self.readers()).await?;
        let (mut list, mut starts) = (List::default(), HashMap::new());
        for row in &rows {
            let (made, start) = plan_advance(row, now, advance)?;
            list.push(&to_json(&made)?);
            starts.extend(start.map(|start| ((made.organization.to_owned(), made.item.to_owned()), start)));
        }
        let Some(list) = list.bound() else { return Ok(0) };
        let query = Query::new(ADVANCE).bind(now.as_milliseconds()).bind(list);
        self.write(move |connection| Box::pin(write(connection, query, starts))).await
    }
}

/// Statements that start runs, by the organisation and the id of their item.
type Starts = HashMap<(String, String), Query>;

/// Changes the items, and starts the runs of those that were changed.
async fn write(connection: &mut Connection, query: Query, mut starts: Starts) -> Result<u64> {
    let changed = query.fetch_all(&mut *connection).await?;
    for row in &changed {
        if let Some(start) = starts.remove(&(get(row, "organization")?, get(row, "item")?)) {
            start.execute(&mut *connection).await?;
        }
    }
    Ok(u64::try_from(changed.len()).unwrap_or(u64::MAX))
}

/// A damaged item is due no more, so that the others do not wait for it.
fn plan_advance<'r>(row: &'r Row, now: Timestamp, advance: Advance<'_>) -> Result<(Advanced<'r>, Option<Query>)> {
    let (organization, item, seen) = (get(row, "organization")?, get(row, "item")?, get(row, "revision")?);
    let found = match read(row) {
        Ok(found) => found,
        Err(error) => {
            tracing::error!(%error, organization, item, "a damaged item of the library is due no more");
            let (label, fields) = (get(row, "label")?, StoredFields::unread(row)?);
            return Ok((Advanced { organization, item, seen, label, fields, due_at: None }, None));
        }
    };
    let AdvancedItem { content: LibraryContent { label, body, due_at, .. }, run } = advance(&found, now);
    let start = run.map(|run| {
        let query = Query::new(START).bind(organization).bind(run.id.as_str()).bind(run.agent.as_str());
        let query = query.bind(found.owner.as_str()).bind(run.document).bind(now.as_milliseconds());
        query.bind(run.objective.as_str()).bind(item)
    });
    // An item that stays due would be changed again and again.
    let due_at = due_at.filter(|due_at| *due_at > now).map(Timestamp::as_milliseconds);
    let fields = StoredFields::of(found.family, &body)?;
    Ok((Advanced { organization, item, seen, label, fields, due_at }, start))
}
