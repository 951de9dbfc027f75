//! Statistics of the partitioned tables. Postgres analyses their partitions by itself, but never the tables, and without their
//! statistics the planner joins millions of rows for a page of a search.

use super::months::TABLES;
use crate::error::Result;
use crate::store::database::{Connection, Query};

/// Whether a table has grown by a tenth since it was analysed, or never was: the rule by which Postgres analyses other tables.
const IS_STALE: &str = "SELECT (SELECT coalesce(sum(greatest(part.reltuples, 0)), 0) FROM pg_inherits
        JOIN pg_class part ON part.oid = inhrelid WHERE inhparent = whole.oid) > 1.1 * greatest(whole.reltuples, 0) + 50 AS stale
    FROM pg_class whole WHERE whole.oid = to_regclass($1)";

/// Analyses the tables that need it. That takes seconds, and blocks neither reads nor writes.
pub(super) async fn analyze(connection: &mut Connection) -> Result<()> {
    for table in TABLES {
        if Query::new(IS_STALE).bind(table).fetch_column("stale", &mut *connection).await? {
            let analyze = Query { text: format!("ANALYZE {table}").into(), values: Vec::new() };
            analyze.execute(&mut *connection).await?;
            tracing::info!(table, "the statistics of a table of the history are up to date");
        }
    }
    Ok(())
}
