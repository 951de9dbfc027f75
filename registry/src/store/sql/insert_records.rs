//! Inserting the starts and ends of runs, with everything that the same transaction stores beside them: one statement for
//! each table and group, however many runs are in the group.

use std::collections::HashMap;

use super::dialect::Connection;
use super::insert_beside::{insert_answers, insert_tapes};
use super::list::List;
use super::record_rows::{EndRow, RecordRows};
use super::row::{get, to_json};
use super::run_end::INSERT_ENDS;
use super::run_start::insert_starts;
use super::search_columns::{INDEX, IndexRow};
use crate::error::{Error, Result};
use crate::store::retention::Retention;

const CLOSE: &str = "DELETE FROM inv_open WHERE invocation IN (SELECT value FROM json_each($1))";

const INSERT_EFFECTS: &str = "INSERT INTO inv_effects (organization, kind, name, sequence)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each($1)";

const IS_STARTED: &str = "SELECT 1 FROM inv_started WHERE organization = $1 AND invocation = $2";

/// Inserts the rows of a group. Returns for each of its members the first end of a run that was refused.
pub(super) async fn insert(
    connection: &mut Connection,
    group: &[&RecordRows],
    retention: Retention,
) -> Result<Vec<Option<Error>>> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for (member, rows) in group.iter().enumerate() {
        match rows {
            RecordRows::Started(rows) => starts.extend(rows),
            RecordRows::Finished(rows) => ends.extend(rows.iter().map(|row| (member, row))),
        }
    }
    if !starts.is_empty() {
        insert_starts(connection, &starts).await?;
    }
    let mut refused: Vec<_> = group.iter().map(|_| None).collect();
    if !ends.is_empty() {
        for (member, error) in insert_ends(connection, &ends, retention).await? {
            refused[member].get_or_insert(error);
        }
    }
    Ok(refused)
}

/// The end of a run that was inserted.
struct Inserted {
    sequence: i64,
    input: String,
}

/// Inserts ends of runs, each with the member of the group that it belongs to. Returns the refused ones.
async fn insert_ends(
    connection: &mut Connection,
    rows: &[(usize, &EndRow)],
    retention: Retention,
) -> Result<Vec<(usize, Error)>> {
    let list: List = rows.iter().map(|(_, row)| &row.finished).collect();
    let mut inserted = HashMap::new();
    for row in list.query(INSERT_ENDS).fetch_all(&mut *connection).await? {
        let end = Inserted { sequence: get(&row, "sequence")?, input: get(&row, "input")? };
        inserted.insert((get::<String>(&row, "organization")?, get::<String>(&row, "invocation")?), end);
    }
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for (member, row) in rows {
        match inserted.remove(&(row.organization.to_string(), row.id.to_string())) {
            Some(end) => accepted.push((*row, end)),
            None => refused.push((*member, refusal(connection, row).await?)),
        }
    }
    close_and_index(connection, &accepted).await?;
    let rows: Vec<_> = accepted.iter().map(|(row, _)| *row).collect();
    insert_tapes(connection, &rows).await?;
    insert_answers(connection, &rows, retention).await?;
    Ok(refused)
}

async fn refusal(connection: &mut Connection, row: &EndRow) -> Result<Error> {
    let query = sqlx::query(IS_STARTED).bind(row.organization.as_str()).bind(row.id.as_str());
    Ok(match query.fetch_optional(connection).await? {
        Some(_) => Error::AlreadyFinished { invocation: row.id.clone() },
        None => Error::NotFound { what: "invocation" },
    })
}

/// Closes the runs, and makes them searchable.
async fn close_and_index(connection: &mut Connection, ends: &[(&EndRow, Inserted)]) -> Result<()> {
    let (mut closed, mut texts, mut effects) = (List::default(), List::default(), List::default());
    for (row, Inserted { sequence, input }) in ends {
        closed.push(&to_json(&row.id.as_str())?);
        let EndRow { organization, texts: outcome, .. } = row;
        texts.push(&IndexRow { sequence: *sequence, organization, outcome, input }.encoded()?);
        for (kind, name) in &row.effects {
            effects.push(&to_json(&(row.organization.as_str(), kind, name, sequence))?);
        }
    }
    closed.insert(connection, CLOSE).await?;
    texts.insert(connection, INDEX).await?;
    effects.insert(connection, INSERT_EFFECTS).await
}
