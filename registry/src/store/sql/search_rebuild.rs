//! Completing the full-text index from the records.

use sqlx::Connection as _;

use super::batch::Batch;
use super::dialect::{Connection, Row};
use super::list::List;
use super::row::{exact_text, get, parsed};
use super::search_columns::{INDEX, IndexRow, texts};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::record::Outcome;

const LAST_INDEXED: &str = "SELECT rowid FROM inv_text ORDER BY rowid DESC LIMIT 1";

const NOT_INDEXED: &str =
    "SELECT f.invocation, f.organization, f.succeeded, f.output, f.exception_message, f.exception_type,
        f.exception_stack_trace, s.input
    FROM inv_finished f JOIN inv_started s ON s.invocation = f.invocation
    WHERE f.sequence > $1 ORDER BY f.sequence LIMIT $2";

/// Records in one transaction while an index is filled: some megabytes.
const BATCH_RECORDS: u64 = 1_000;

/// Indexes the records that are not in the index: all of them, after a migration that made a new index. An interrupted call
/// is continued by the next one.
pub(super) async fn index_missing(connection: &mut Connection) -> Result<()> {
    let mut indexed = 0;
    loop {
        let added = index_batch(connection).await?;
        indexed += added;
        if added < BATCH_RECORDS {
            break;
        }
        tracing::info!(indexed, "indexing the record of runs for searches");
    }
    Ok(())
}

/// Indexes some records in one transaction, and returns their number.
async fn index_batch(connection: &mut Connection) -> Result<u64> {
    let mut transaction = connection.begin().await?;
    let last: Option<i64> = sqlx::query_scalar(LAST_INDEXED).fetch_optional(&mut *transaction).await?;
    let query = sqlx::query(NOT_INDEXED).bind(last.unwrap_or(0)).bind(i64::try_from(BATCH_RECORDS).unwrap_or(i64::MAX));
    let rows = query.fetch_all(&mut *transaction).await?;
    for row in &rows {
        let organization: OrganizationId = parsed(row, "organization")?;
        let (invocation, outcome, input) = (get(row, "invocation")?, texts(&outcome(row)?), get(row, "input")?);
        let (mut list, mut batch) = (List::default(), Batch::default());
        list.push(&IndexRow { invocation, organization: &organization, outcome: &outcome, input }.encoded()?);
        batch.insert(INDEX, list);
        batch.run(&mut transaction).await?;
    }
    transaction.commit().await?;
    Ok(rows.len() as u64)
}

/// Returns the outcome as it is searched: the stack trace is one text.
fn outcome(row: &Row) -> Result<Outcome> {
    if get(row, "succeeded")? {
        return Ok(Outcome::Succeeded { output: exact_text(row, "output")? });
    }
    let trace = exact_text(row, "exception_stack_trace")?;
    Ok(Outcome::Failed {
        exception_type: exact_text(row, "exception_type")?,
        exception_message: exact_text(row, "exception_message")?,
        exception_stack_trace: serde_json::from_str(&trace).unwrap_or_else(|_| vec![trace]),
    })
}
