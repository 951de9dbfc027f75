//! Deleting the runs whose time is over, unless a legal hold keeps them: a batch a transaction, oldest first. Before other rows,
//! the transaction enters the runs in `inv_expired`, without which the database refuses to delete them.
//!
//! A transaction that places a hold and one that deletes runs follow each other, also on several servers. Servers that sweep at
//! the same time delete different runs.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::handle::History;
use super::holds::is_held;
use super::record_pages::PAGE_BYTES_MAX;
use super::run_group::run_group;
use crate::error::Result;
use crate::history::{Effect, EffectKind, Ledger};
use crate::kit::clock::Timestamp;
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::batch::Batch;
use crate::store::sql::kit::list::List;
use crate::store::sql::kit::row::{get, read_json, read_unsigned, to_json, to_signed};

/// Runs of one transaction: some hundredths of a second, for which other writes wait.
const BATCH_RUNS: i64 = 200;

/// Ended runs in the order of their ids, which is that of their starts. A run with a tape or with an operation stays until these
/// have expired.
const CANDIDATES: &str = concat!(
    "SELECT s.invocation, octet_length(s.input) + coalesce(octet_length(f.output), 0)
        + coalesce(octet_length(f.exception_message), 0) + coalesce(octet_length(f.exception_stack_trace), 0) AS bytes,
    CASE WHEN EXISTS (SELECT 1 FROM tapes t WHERE t.invocation = s.invocation)
        OR EXISTS (SELECT 1 FROM operation_runs o WHERE o.invocation = s.invocation)
        OR ",
    is_held!("s"),
    " THEN 1 ELSE 0 END AS stays
    FROM inv_started s CROSS JOIN inv_finished f
    WHERE s.invocation > $1 AND s.invocation < $2 AND s.started_at < $3 AND f.invocation = s.invocation
    ORDER BY s.invocation LIMIT $4"
);

/// Reads the rows of runs from which those of the effects are made, and their rows of the search index.
const EXPIRED: &str = concat!(
    "SELECT f.sequence, f.organization, f.succeeded, f.ledger, f.refused_at, s.invocation, s.started_at, s.agent, s.client,
        s.turn, s.native_tool, ",
    run_group!(),
    " AS run_group
    FROM {members $1} expired CROSS JOIN inv_started s CROSS JOIN inv_finished f
    WHERE s.invocation = expired.value AND f.invocation = s.invocation"
);

const ALLOW: &str = "INSERT INTO inv_expired (invocation) SELECT value FROM {members $1} expired";

const DELETE_EFFECTS: &str = "DELETE FROM inv_effects WHERE (organization, kind, name, started_at, invocation) IN (
    SELECT organization, kind, name, started_at, invocation
    FROM {records $1 organization TEXT, kind TEXT, name TEXT, started_at INTEGER, invocation TEXT} effects)";

const UNINDEX: &str = "DELETE FROM inv_text WHERE rowid IN (SELECT rowid FROM {records $1 rowid INTEGER} removed)";

const DELETE_UNLINKED: &str = "DELETE FROM inv_unlinked WHERE invocation IN {members $1}";

const DELETE_ENDS: &str = "DELETE FROM inv_finished WHERE invocation IN {members $1}";

const DELETE_STARTS: &str = "DELETE FROM inv_started WHERE invocation IN {members $1}";

const REFUSE: &str = "DELETE FROM inv_expired";

#[derive(Serialize)]
struct EffectRow<'a> {
    organization: &'a str,
    kind: &'a str,
    name: &'a str,
    started_at: i64,
    invocation: &'a str,
}

#[derive(Serialize)]
struct Position {
    rowid: i64,
}

/// The runs that began before a time, after those that earlier batches have looked at.
struct Sweep {
    before: Timestamp,
    after: String,
}

struct Swept {
    deleted: u64,
    /// The last run that was looked at; `None` at the end.
    last: Option<String>,
}

impl History {
    /// Deletes the runs that began longer ago than the retention, with all that is stored of them, but for those under a hold.
    /// Returns their number.
    pub async fn delete_expired_runs(&self) -> Result<u64> {
        let Some(retention) = self.store.0.config.history_retention else { return Ok(0) };
        let before = self.store.0.clock.now().before(retention);
        let (mut deleted, mut after) = (0, Some(String::new()));
        while let Some(last) = after {
            let sweep = Sweep { before, after: last };
            let swept = self.store.write(move |connection| Box::pin(sweep.sweep_batch(connection))).await?;
            deleted += swept.deleted;
            after = swept.last;
            // Other writers come first.
            tokio::time::sleep(PAUSE).await;
        }
        Ok(deleted)
    }
}

/// Time between two batches, so that a sweep of many runs does not delay the calls of clients.
const PAUSE: Duration = Duration::from_millis(5);

impl Sweep {
    async fn sweep_batch(self, connection: &mut Connection) -> Result<Swept> {
        let query = Query::new(CANDIDATES).bind(self.after.as_str()).bind(build_first_id(self.before));
        let query = query.bind(self.before.as_milliseconds()).bind(BATCH_RUNS);
        let candidates = query.fetch_all(&mut *connection).await?;
        let (expired, last) = select_fitting(&candidates)?;
        if !expired.is_empty() {
            Self::delete(connection, &expired).await?;
        }
        Ok(Swept { deleted: expired.len() as u64, last })
    }

    async fn delete(connection: &mut Connection, runs: &[&str]) -> Result<()> {
        let ids = to_json(&runs)?;
        let rows = Query::new(EXPIRED).bind(ids.as_str()).fetch_all(&mut *connection).await?;
        let mut batch = Batch::default();
        let all = || runs.iter().map(to_json).collect::<Result<Vec<_>>>();
        batch.insert(ALLOW, all()?.iter().collect());
        batch.insert(UNINDEX, list_positions(&rows)?);
        batch.insert(DELETE_EFFECTS, list_effects(&rows)?);
        for statement in [DELETE_UNLINKED, DELETE_ENDS, DELETE_STARTS] {
            batch.insert(statement, all()?.iter().collect());
        }
        batch.push(REFUSE);
        batch.run(connection).await
    }
}

/// Returns the runs to delete of as many candidates as fit a page, and the last of these.
fn select_fitting(candidates: &[Row]) -> Result<(Vec<&str>, Option<String>)> {
    let (mut expired, mut last, mut bytes) = (Vec::new(), None, 0_u64);
    for row in candidates {
        let run: &str = get(row, "invocation")?;
        last = Some(run.to_owned());
        if !get::<bool>(row, "stays")? {
            expired.push(run);
            bytes = bytes.saturating_add(read_unsigned(row, "bytes")?);
        }
        if bytes >= PAGE_BYTES_MAX {
            break;
        }
    }
    Ok((expired, last))
}

fn list_positions(rows: &[Row]) -> Result<List> {
    let mut list = List::default();
    for row in rows {
        list.push(&to_json(&Position { rowid: get(row, "sequence")? })?);
    }
    Ok(list)
}

fn list_effects(rows: &[Row]) -> Result<List> {
    let mut list = List::default();
    for row in rows {
        for effect in read_effects(row)? {
            list.push(&to_json(&EffectRow {
                organization: get(row, "organization")?,
                kind: effect.kind.as_str(),
                name: &effect.name,
                started_at: get(row, "started_at")?,
                invocation: get(row, "invocation")?,
            })?);
        }
    }
    Ok(list)
}

fn read_effects(row: &Row) -> Result<BTreeSet<Effect>> {
    let mut effects = match get::<Option<&str>>(row, "ledger")? {
        Some(_) => read_json::<Ledger>(row, "ledger")?.effects(),
        None => BTreeSet::new(),
    };
    if !get::<bool>(row, "succeeded")? {
        effects.extend([Effect::failed(), Effect::failed_in(get(row, "run_group")?)]);
    }
    for kind in EffectKind::COLUMNS {
        let name = get::<Option<String>>(row, kind.as_str())?;
        effects.extend(name.map(|name| Effect { kind, name }));
    }
    Ok(effects)
}

/// Returns the beginning of the ids that are made from a time on: its second.
fn build_first_id(time: Timestamp) -> String {
    // Runs of the same second are compared by their start.
    let second = to_signed(time.as_milliseconds().div_euclid(1000).unsigned_abs()).saturating_add(1);
    format!("{second:08x}")
}
