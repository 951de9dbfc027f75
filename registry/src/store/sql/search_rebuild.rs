//! Completing the full-text index from the records.

use super::batch::Batch;
use super::list::List;
use super::row::{exact_text, get, parsed, signed};
use super::search_columns::{INDEX, IndexRow, OutcomeWords, PositionedIndexRow};
use super::search_facets::{record_facets, start_columns};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::record::Outcome;
use crate::store::database::{Connection, Query, Row};

const LAST_INDEXED: &str = "SELECT rowid FROM inv_text ORDER BY rowid DESC LIMIT 1";

const NOT_INDEXED: &str = concat!(
    "SELECT f.invocation, f.organization, f.succeeded, f.output, f.exception_message, f.exception_type,
        f.exception_stack_trace, f.ledger, f.refused_at, s.input, ",
    start_columns!(),
    " FROM inv_finished f JOIN inv_started s ON s.invocation = f.invocation
    WHERE f.sequence > $1 ORDER BY f.sequence LIMIT $2"
);

/// The records that have a row in the index, with the columns that [`index_rows`] reads, and `bytes`, their size.
pub(in crate::store) const INDEXED_RECORDS: &str = concat!(
    "(SELECT f.sequence AS rowid, f.organization, f.succeeded, f.output,
        f.exception_message, f.exception_type, f.exception_stack_trace, f.ledger, f.refused_at, s.input, ",
    start_columns!(),
    ", octet_length(s.input) + coalesce(octet_length(f.output), 0) + coalesce(octet_length(f.exception_type), 0)
            + coalesce(octet_length(f.exception_message), 0)
            + coalesce(octet_length(f.exception_stack_trace), 0) + coalesce(octet_length(f.ledger), 0) AS bytes
    FROM inv_finished f CROSS JOIN inv_started s WHERE s.invocation = f.invocation) records"
);

pub(in crate::store) const INDEXED_COLUMNS: &str = "rowid, organization, succeeded, output, exception_message, exception_type, exception_stack_trace, ledger, \
    refused_at, input, tool, user_id, agent, client, native_tool, started_at";

/// Records in one transaction while an index is filled: some megabytes.
const BATCH_RECORDS: u64 = 1_000;

/// Indexes the records that are not in the index: all of them, after a migration that made a new index. An interrupted call
/// is continued by the next one.
pub(in crate::store) async fn index_missing(connection: &mut Connection) -> Result<()> {
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
    let mut batch = Batch::default();
    batch.push("{begin}");
    batch.run(connection).await?;
    let last = Query::new(LAST_INDEXED).fetch_optional(&mut *connection).await?;
    let last: i64 = last.map_or(Ok(0), |row| get(&row, "rowid"))?;
    let query = Query::new(NOT_INDEXED).bind(last).bind(signed(BATCH_RECORDS));
    let rows = query.fetch_all(&mut *connection).await?;
    for row in &rows {
        let organization: OrganizationId = parsed(row, "organization")?;
        let (invocation, input) = (get(row, "invocation")?, get(row, "input")?);
        let (outcome, facets) = (&OutcomeWords::of(&outcome(row)?), &record_facets(row)?);
        let mut list = List::default();
        list.push(&IndexRow { invocation, organization: &organization, outcome, input, facets }.encoded()?);
        batch.insert(INDEX, list);
        batch.run(connection).await?;
    }
    batch.push("COMMIT");
    batch.run(connection).await?;
    Ok(rows.len() as u64)
}

/// Makes rows of the index from [`INDEXED_RECORDS`], each a JSON object with the columns of the index.
pub(in crate::store) fn index_rows(records: &[Row]) -> Result<Vec<String>> {
    let row = |record: &Row| {
        let organization = parsed(record, "organization")?;
        let outcome = OutcomeWords::of(&outcome(record)?);
        let (input, facets, rowid) = (get(record, "input")?, &record_facets(record)?, get(record, "rowid")?);
        PositionedIndexRow { organization: &organization, outcome: &outcome, input, facets, rowid }.encoded()
    };
    records.iter().map(row).collect()
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
