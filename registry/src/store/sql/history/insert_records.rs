//! Inserting the starts and ends of runs, with everything that the same transaction stores beside them: one statement for
//! each table and group, however many runs are in the group.

use std::collections::HashMap;

use serde::Serialize;

use super::effect_rows::{INSERT_EFFECTS, build_effect_rows};
use super::insert_beside::{insert_answers, insert_tapes};
use super::record_rows::{EndRow, RecordRows};
use super::run_end::INSERT_ENDS;
use super::run_group::run_group;
use super::run_start::insert_starts;
use super::search_columns::{INDEX, IndexRow};
use super::search_facets::{Facets, start_columns, start_facets};
use crate::error::{Error, Result};
use crate::history::Effect;
use crate::store::database::{Connection, Query, Row};
use crate::store::retention::Retention;
use crate::store::sql::kit::batch::Batch;
use crate::store::sql::kit::list::List;
use crate::store::sql::kit::row::{get, to_json};

/// Reads what the search index has of runs that have started and not ended.
pub(in crate::store) const RUNNING: &str = concat!(
    "SELECT s.organization, s.invocation, s.input, ",
    run_group!(),
    " AS run_group, ",
    start_columns!(),
    " FROM {records $1 organization TEXT, invocation TEXT} wanted CROSS JOIN inv_started s
    WHERE s.invocation = wanted.invocation AND s.organization = wanted.organization
        AND NOT EXISTS (SELECT 1 FROM inv_finished f WHERE f.invocation = s.invocation)"
);

const CLOSE: &str = "DELETE FROM inv_open WHERE invocation IN {members $1}";

const IS_STARTED: &str = "SELECT 1 FROM inv_started WHERE organization = $1 AND invocation = $2";

/// Rows of the record of runs, to be written together.
pub(in crate::store::sql) struct RecordGroup<'a> {
    pub members: Vec<&'a RecordRows>,
    pub retention: Retention,
}

impl RecordGroup<'_> {
    /// Adds the statements that insert the rows to a batch, and runs those whose results they need. Returns for each
    /// member the first end of a run that was refused.
    pub async fn insert(&self, connection: &mut Connection, batch: &mut Batch) -> Result<Vec<Option<Error>>> {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (member, rows) in self.members.iter().enumerate() {
            match rows {
                RecordRows::Started(rows) => starts.extend(rows),
                RecordRows::Finished(rows) => ends.extend(rows.iter().map(|row| (member, row))),
                RecordRows::Refused(rows) => {
                    starts.extend(rows.iter().map(|(start, _)| start));
                    ends.extend(rows.iter().map(|(_, end)| (member, end)));
                }
            }
        }
        insert_starts(batch, &starts);
        let mut refused: Vec<_> = self.members.iter().map(|_| None).collect();
        if ends.is_empty() {
            return Ok(refused);
        }
        let mut running = read_running(connection, batch, &ends).await?;
        let mut accepted = Vec::new();
        for (member, row) in ends {
            match running.remove(&(row.organization.to_string(), row.id.to_string())) {
                Some(start) => accepted.push(AcceptedEnd { row, start }),
                None => drop(refused[member].get_or_insert(find_refusal(connection, row).await?)),
            }
        }
        insert_ends(batch, &accepted)?;
        let rows: Vec<_> = accepted.iter().map(|end| end.row).collect();
        insert_tapes(batch, &rows);
        if rows.iter().any(|row| row.answers.is_some()) {
            batch.run(connection).await?;
            insert_answers(connection, &rows, self.retention).await?;
        }
        Ok(refused)
    }
}

/// The end of a run that has started and not ended.
struct AcceptedEnd<'a> {
    row: &'a EndRow,
    start: RunningRun,
}

/// The part of a run's start that its end stores again, in indexes.
struct RunningRun {
    /// The recorded input.
    input: String,
    facets: Facets,
    /// The name of its group.
    group: String,
}

impl RunningRun {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self { input: get(row, "input")?, facets: start_facets(row)?, group: get(row, "run_group")? })
    }
}

#[derive(Serialize)]
struct Wanted<'a> {
    organization: &'a str,
    invocation: &'a str,
}

/// Returns the running runs by organisation and id.
async fn read_running(
    connection: &mut Connection,
    batch: &mut Batch,
    ends: &[(usize, &EndRow)],
) -> Result<HashMap<(String, String), RunningRun>> {
    let mut wanted = List::default();
    for (_, EndRow { organization, id, .. }) in ends {
        wanted.push(&to_json(&Wanted { organization: organization.as_str(), invocation: id.as_str() })?);
    }
    batch.insert(RUNNING, wanted);
    let rows = batch.rows(connection).await?;
    let keyed = |row: &Row| Ok(((get(row, "organization")?, get(row, "invocation")?), RunningRun::read(row)?));
    rows.iter().map(keyed).collect()
}

async fn find_refusal(connection: &mut Connection, row: &EndRow) -> Result<Error> {
    let query = Query::new(IS_STARTED).bind(row.organization.as_str()).bind(row.id.as_str());
    Ok(match query.fetch_optional(connection).await? {
        Some(_) => Error::AlreadyFinished { invocation: row.id.clone() },
        None => Error::NotFound { what: "invocation" },
    })
}

/// Adds the statements that insert ends of runs, close the runs, and make them searchable.
fn insert_ends(batch: &mut Batch, ends: &[AcceptedEnd<'_>]) -> Result<()> {
    let (mut closed, mut texts, mut effects) = (List::default(), List::default(), List::default());
    for AcceptedEnd { row, start: RunningRun { input, facets, group } } in ends {
        closed.push(&to_json(&row.id.as_str())?);
        let EndRow { organization, words: outcome, id, .. } = row;
        let facets = &(facets | &row.facets);
        texts.push(&IndexRow { invocation: id.as_str(), organization, outcome, input, facets }.encode()?);
        row.effects.iter().for_each(|effect| effects.push(effect));
        if row.has_failed {
            build_effect_rows(id, [Effect::failed_in(group)])?.iter().for_each(|effect| effects.push(effect));
        }
    }
    batch.insert(INSERT_ENDS, ends.iter().map(|end| &end.row.finished).collect());
    batch.insert(CLOSE, closed);
    batch.insert(INDEX, texts);
    batch.insert(INSERT_EFFECTS, effects);
    Ok(())
}
