//! Inserting what is stored beside the record of a run: its tape and its recorded answers.

use std::collections::BTreeSet;

use super::record_rows::EndRow;
use crate::error::Result;
use crate::store::database::{Connection, Query};
use crate::store::retention::Retention;
use crate::store::sql::kit::batch::Batch;

const INSERT_TAPES: &str = "INSERT INTO tapes (invocation, organization, sealed, size, made_at, expires_at)
    SELECT invocation, organization, sealed, size, made_at, expires_at
    FROM {records $1 invocation TEXT, organization TEXT, sealed BYTES, size INTEGER, made_at INTEGER, \
        expires_at INTEGER} tapes_made";

const INSERT_BODIES: &str = "INSERT INTO tape_bodies (organization, digest, sealed, size, object_digest)
    SELECT organization, digest, sealed, size, object_digest
    FROM {records $1 organization TEXT, digest BYTES, sealed BYTES, size INTEGER, object_digest BYTES} bodies
    WHERE true ON CONFLICT DO NOTHING";

const INSERT_USES: &str = "INSERT INTO tape_body_uses (organization, digest, invocation)
    SELECT organization, digest, invocation
    FROM {records $1 organization TEXT, digest BYTES, invocation TEXT} bodies
    WHERE true ON CONFLICT DO NOTHING";

/// Keeps the newer answer: a run that ends later may have received its answer earlier.
const INSERT_ANSWERS: &str = "INSERT INTO recorded_answers (organization, tool, request, sealed, heard_at, expires_at)
    SELECT organization, tool, request, sealed, heard_at, expires_at
    FROM {records $1 organization TEXT, tool TEXT, request BYTES, sealed BYTES, heard_at INTEGER, expires_at INTEGER} a
    WHERE true
    ON CONFLICT (organization, tool, request) DO UPDATE
    SET sealed = excluded.sealed, heard_at = excluded.heard_at, expires_at = excluded.expires_at
    WHERE excluded.heard_at >= recorded_answers.heard_at";

const COUNT_ANSWERS: &str = "SELECT count(*) AS answers FROM recorded_answers WHERE organization = $1 AND tool = $2";

const DELETE_OLDEST_ANSWERS: &str = "DELETE FROM recorded_answers WHERE organization = $1 AND tool = $2 AND request IN
    (SELECT request FROM recorded_answers WHERE organization = $1 AND tool = $2 ORDER BY heard_at, request LIMIT $3)";

/// Adds the statements that store the tapes of runs.
pub(super) fn insert_tapes(batch: &mut Batch, ends: &[&EndRow]) {
    let bodies = || ends.iter().flat_map(|end| &end.tape_bodies).collect();
    batch.insert(INSERT_TAPES, ends.iter().filter_map(|end| end.tape.as_ref()).collect());
    batch.insert(INSERT_BODIES, bodies());
    batch.insert(INSERT_USES, bodies());
}

/// Stores the answers of runs, in the transaction that records their ends. Above the bound of a tool its oldest answers are
/// deleted.
pub(super) async fn insert_answers(connection: &mut Connection, ends: &[&EndRow], retention: Retention) -> Result<()> {
    let found: Vec<_> = ends.iter().filter_map(|end| Some((&end.organization, end.answers.as_ref()?))).collect();
    let mut batch = Batch::default();
    batch.insert(INSERT_ANSWERS, found.iter().flat_map(|(_, rows)| &rows.answers).collect());
    batch.run(connection).await?;
    let tools: BTreeSet<_> =
        found.iter().map(|(organization, rows)| (organization.as_str(), rows.tool.as_str())).collect();
    for (organization, tool) in tools {
        let query = Query::new(COUNT_ANSWERS).bind(organization).bind(tool);
        let count: i64 = query.fetch_column("answers", &mut *connection).await?;
        let excess = count - i64::from(retention.answers_per_tool_max);
        if excess > 0 {
            let query = Query::new(DELETE_OLDEST_ANSWERS).bind(organization).bind(tool).bind(excess);
            query.execute(&mut *connection).await?;
        }
    }
    Ok(())
}
