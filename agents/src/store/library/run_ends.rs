//! Runs that items of the Library started, and that failed or were cancelled. The row of such a run names its item until the item has
//! the end of the run, so that no end is lost with a server.

use registry::statements::{Query, Row, get, parse_column, read_timestamp};
use registry::{AgentRunId, Result, Timestamp};

use super::content::StoredFields;
use super::item::read;
use crate::domain::agent_runs::AgentRunState;
use crate::domain::library::{LibraryContent, LibraryItem};
use crate::store::AgentStore;

pub const ENDED_RUN: &str = "SELECT organization, agent_run, item, state, document, ended_at FROM agent_runs
    WHERE item IS NOT NULL AND state IN ('failed', 'cancelled') LIMIT 1";

const ITEM_OF_RUN: &str = "SELECT * FROM library_items WHERE organization = $1 AND item = $2 AND deleted_at IS NULL";

/// Changes nothing when the item was changed or deleted since it was read. The provenance stays as it is.
const REPORT_RUN: &str =
    "UPDATE library_items SET label = $3, body = $4, due_at = $5, updated_at = $6, content_bytes = $8, content = $9,
        revision = revision + 1
    WHERE organization = $1 AND item = $2 AND revision = $7 AND deleted_at IS NULL";

const RELEASE_ITEM: &str = "UPDATE agent_runs SET item = NULL WHERE organization = $1 AND agent_run = $2";

/// Says what becomes of an item whose run failed or was cancelled. `None` when nothing changes.
pub type Report<'a> = &'a (dyn Fn(&LibraryItem, &EndedRun) -> Option<LibraryContent> + Sync);

/// A run of an agent that failed or was cancelled.
#[derive(Clone, Debug)]
pub struct EndedRun {
    pub id: AgentRunId,
    pub state: AgentRunState,
    /// The last checkpoint.
    pub document: String,
    pub ended_at: Timestamp,
}

impl AgentStore {
    /// Changes the item of a run, one of those whose item does not have the end yet. Returns whether there was such a run: the caller
    /// looks again. Of several servers, one changes an item.
    pub async fn report_ended_run(&self, report: Report<'_>) -> Result<bool> {
        let Some(row) = Query::new(ENDED_RUN).fetch_optional(self.readers()).await? else { return Ok(false) };
        let (organization, run): (String, String) = (get(&row, "organization")?, get(&row, "agent_run")?);
        let change = build_change(self, &row, report).await?;
        self.write(move |connection| {
            Box::pin(async move {
                if let Some(change) = change
                    && change.execute(&mut *connection).await? == 0
                {
                    // The item is read again.
                    return Ok(true);
                }
                let release = Query::new(RELEASE_ITEM).bind(organization).bind(run);
                release.execute(connection).await?;
                Ok(true)
            })
        })
        .await
    }
}

/// The change of the item of a run. `None` for an item that is gone or damaged, too: nobody expects the end of its run.
async fn build_change(store: &AgentStore, row: &Row, report: Report<'_>) -> Result<Option<Query>> {
    let (organization, item): (&str, &str) = (get(row, "organization")?, get(row, "item")?);
    let query = Query::new(ITEM_OF_RUN).bind(organization).bind(item);
    let Some(found) = query.fetch_optional(store.readers()).await? else { return Ok(None) };
    let content = match (read(&found), read_run(row)) {
        (Ok(found), Ok(run)) => report(&found, &run).map(|content| (found.family, content)),
        (Err(error), _) | (_, Err(error)) => {
            tracing::error!(%error, organization, item, "a damaged item of the library does not have the end of its run");
            None
        }
    };
    let Some((family, LibraryContent { label, body, due_at, .. })) = content else { return Ok(None) };
    let fields = StoredFields::of(family, &body)?;
    let query = Query::new(REPORT_RUN).bind(organization).bind(item).bind(label).bind(fields.body);
    let query = query.bind(due_at.map(Timestamp::as_milliseconds)).bind(store.clock().now().as_milliseconds());
    let query = query.bind(get::<i64>(&found, "revision")?);
    Ok(Some(query.bind(fields.content_bytes).bind(fields.content)))
}

fn read_run(row: &Row) -> Result<EndedRun> {
    Ok(EndedRun {
        id: parse_column(row, "agent_run")?,
        state: parse_column(row, "state")?,
        document: get(row, "document")?,
        ended_at: read_timestamp(row, "ended_at")?,
    })
}
