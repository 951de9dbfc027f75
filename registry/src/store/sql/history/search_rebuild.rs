//! Making rows of the full-text index from records, for a copy of the database.

use super::search_columns::{OutcomeWords, PositionedIndexRow};
use super::search_facets::{record_facets, start_columns};
use crate::error::Result;
use crate::history::Outcome;
use crate::store::database::Row;
use crate::store::sql::kit::row::{get, parse_column, read_exact_text};

/// The records that have a row in the index, with the columns that [`write_index_rows`] reads, and `bytes`, their size.
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

/// Makes rows of the index from [`INDEXED_RECORDS`], each a JSON object with the columns of the index.
pub(in crate::store) fn write_index_rows(records: &[Row]) -> Result<Vec<String>> {
    let row = |record: &Row| {
        let organization = parse_column(record, "organization")?;
        let outcome = OutcomeWords::of(&read_outcome(record)?);
        let (input, facets, rowid) = (get(record, "input")?, &record_facets(record)?, get(record, "rowid")?);
        PositionedIndexRow { organization: &organization, outcome: &outcome, input, facets, rowid }.encode()
    };
    records.iter().map(row).collect()
}

/// Returns the outcome as it is searched: the stack trace is one text.
fn read_outcome(row: &Row) -> Result<Outcome> {
    if get(row, "succeeded")? {
        return Ok(Outcome::Succeeded { output: read_exact_text(row, "output")? });
    }
    let trace = read_exact_text(row, "exception_stack_trace")?;
    Ok(Outcome::Failed {
        exception_type: read_exact_text(row, "exception_type")?,
        exception_message: read_exact_text(row, "exception_message")?,
        exception_stack_trace: serde_json::from_str(&trace).unwrap_or_else(|_| vec![trace]),
    })
}
