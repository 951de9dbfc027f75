//! The servers of a database. A server that has not been seen for a while is gone: what it left open is closed by another one,
//! or by its next start.

use std::time::Duration;

use metrics::gauge;

use super::handle::Nodes;
use crate::error::Result;
use crate::history::{FinishedRun, ORPHANED, Outcome, RunEnd};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::ids::{BootId, RunId};
use crate::kit::metrics::{NODES as NODES_SEEN, to_number};
use crate::nodes::{Node, NodeDescription};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::history::record_rows::{EndRow, RecordRows};
use crate::store::sql::kit::row::{get, parse_column, read_timestamp, read_unsigned};
use crate::store::sql::operations::operation;

/// Time after its last heartbeat from which a server counts as gone, in milliseconds.
const GONE_AFTER_MS: i64 = 10_000;

const SEE: &str =
    "INSERT INTO nodes (boot, name, address, version, started_at, seen_at) VALUES ($1, $2, $3, $4, {now}, {now})
    ON CONFLICT (boot) DO UPDATE SET seen_at = excluded.seen_at";

/// The servers of a list. More do not share one database.
const NODES_MAX: i64 = 1_000;

/// By the clock of the database, from which heartbeats are.
const NODES: &str = "SELECT n.boot, n.name, n.address, n.version, n.started_at, {now} - n.seen_at AS seen_ms,
        (SELECT count(*) FROM tool_leases l WHERE l.boot = n.boot AND l.operation IS NOT NULL) AS leases,
        (SELECT count(*) FROM builds b WHERE b.boot = n.boot AND b.state = 'running') AS builds,
        (SELECT count(*) FROM inv_open o WHERE o.boot = n.boot) AS runs
    FROM nodes n ORDER BY n.started_at, n.boot LIMIT $1";

const FORGET_GONE: &str = "DELETE FROM nodes WHERE boot <> $1 AND seen_at < {now} - $2";

const LEAVE: &str = "DELETE FROM nodes WHERE boot = $1";

const RELEASE_LEASES: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE operation IS NOT NULL AND boot NOT IN (SELECT boot FROM nodes)";

/// The message of a build whose server is gone.
const ABANDONED: &str = "abandoned: the server stopped";

const FAIL_BUILDS: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $1, message = $2
    WHERE state = 'running' AND boot NOT IN (SELECT boot FROM nodes)";

const ORPHANS: &str = "SELECT s.invocation, s.organization, s.started_at FROM inv_open o
    JOIN inv_started s ON s.invocation = o.invocation WHERE o.boot NOT IN (SELECT boot FROM nodes)";

const COUNT: &str = "SELECT count(*) AS nodes FROM nodes WHERE seen_at >= {now} - $1";

impl Nodes {
    /// Interval at which a server calls [`Nodes::heartbeat`].
    pub const HEARTBEAT: Duration = Duration::from_secs(2);

    /// Time after which a server that calls [`Nodes::heartbeat`] without a failure has seen all others that are there.
    pub const GONE_AFTER: Duration = Duration::from_millis(GONE_AFTER_MS.unsigned_abs());

    /// Sets what operators see of this server. Heartbeats before the first call have nothing of it.
    pub fn describe(&self, description: NodeDescription) {
        self.store.0.node.get_or_init(|| description);
    }

    /// Notes that this server is there, by the clock of the database.
    pub async fn heartbeat(&self) -> Result<()> {
        let (boot, node) = self.describe_this_node();
        self.store.write(move |connection| Box::pin(async move { see(connection, &boot, &node).await })).await
    }

    /// Lists the servers that have been seen, also some that are gone for a few seconds, from the oldest on.
    pub async fn list(&self) -> Result<Vec<Node>> {
        let rows = Query::new(NODES).bind(NODES_MAX).fetch_all(self.store.readers()).await?;
        rows.iter().map(read_node).collect()
    }

    /// Counts the servers that are there, for the metrics.
    pub async fn count(&self) -> Result<u64> {
        // The server of a data directory has its lock.
        let nodes: u64 = if self.store.is_shared() {
            Query::new(COUNT).bind(GONE_AFTER_MS).fetch_column("nodes", self.store.readers()).await?
        } else {
            1
        };
        gauge!(NODES_SEEN).set(to_number(usize::try_from(nodes).unwrap_or(usize::MAX)));
        Ok(nodes)
    }

    fn describe_this_node(&self) -> (BootId, NodeDescription) {
        (self.store.0.boot.clone(), self.store.0.node.get().cloned().unwrap_or_default())
    }

    /// Notes that this server has ended, with nothing left open.
    pub async fn leave(&self) -> Result<()> {
        let boot = self.store.0.boot.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    Query::new(LEAVE).bind(boot.as_str()).execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }

    /// Ends the operations, leases, builds and runs of servers that are gone. Returns the number of runs.
    pub async fn close_orphans(&self) -> Result<u64> {
        let (boot, node) = self.describe_this_node();
        let (now, is_shared) = (self.store.0.clock.now(), self.store.0.database.is_shared());
        let found = self.store.write(move |connection| {
            Box::pin(async move {
                see(connection, &boot, &node).await?;
                // The server of a data directory has its lock, so all others are gone.
                let gone_after = if is_shared { GONE_AFTER_MS } else { i64::MIN };
                Query::new(FORGET_GONE).bind(boot.as_str()).bind(gone_after).execute(&mut *connection).await?;
                operation::close(connection, now).await?;
                Query::new(RELEASE_LEASES).execute(&mut *connection).await?;
                let failed = Query::new(FAIL_BUILDS).bind(now.as_milliseconds()).bind(ABANDONED.as_bytes());
                failed.execute(&mut *connection).await?;
                let rows = Query::new(ORPHANS).fetch_all(connection).await?;
                rows.iter().map(Orphan::read).collect::<Result<Vec<_>>>()
            })
        });
        let orphans = found.await?;
        let closed = orphans.len() as u64;
        let ends = orphans.into_iter().map(|orphan| EndRow::of(&orphan.end(now), self.store.0.retention));
        // Another server may close the same runs: each is closed once.
        self.store.write_rows(RecordRows::Finished(ends.collect::<Result<_>>()?)).await?;
        Ok(closed)
    }
}

/// Number of the servers that are there.
pub(in crate::store) async fn count_nodes(connection: &mut Connection) -> Result<u64> {
    Query::new(COUNT).bind(GONE_AFTER_MS).fetch_column("nodes", connection).await
}

async fn see(connection: &mut Connection, boot: &BootId, node: &NodeDescription) -> Result<()> {
    let NodeDescription { name, address, version } = node;
    let query = Query::new(SEE).bind(boot.as_str()).bind(name.as_str()).bind(address.as_str()).bind(version.as_str());
    query.execute(connection).await?;
    Ok(())
}

fn read_node(row: &Row) -> Result<Node> {
    let description =
        NodeDescription { name: get(row, "name")?, address: get(row, "address")?, version: get(row, "version")? };
    let seen_ms = get::<i64>(row, "seen_ms")?;
    Ok(Node {
        boot: parse_column(row, "boot")?,
        description,
        started_at: read_timestamp(row, "started_at")?,
        seen: Duration::from_millis(u64::try_from(seen_ms).unwrap_or(0)),
        is_recent: seen_ms < GONE_AFTER_MS,
        leases: read_unsigned(row, "leases")?,
        builds: read_unsigned(row, "builds")?,
        runs: read_unsigned(row, "runs")?,
    })
}

/// A run of a server that is gone.
struct Orphan {
    id: RunId,
    organization: OrganizationId,
    started_at: i64,
}

impl Orphan {
    fn read(row: &Row) -> Result<Self> {
        let (id, organization) = (parse_column(row, "invocation")?, parse_column(row, "organization")?);
        Ok(Self { id, organization, started_at: get(row, "started_at")? })
    }

    fn end(self, at: Timestamp) -> FinishedRun {
        let Self { id, organization, started_at } = self;
        let duration_ms = u64::try_from(at.as_milliseconds().saturating_sub(started_at)).unwrap_or(0);
        FinishedRun { id, organization, end: build_orphaned_end(at, duration_ms), tape: None, answers: None }
    }
}

fn build_orphaned_end(at: Timestamp, duration_ms: u64) -> RunEnd {
    let outcome = Outcome::Failed {
        exception_type: ORPHANED.to_owned(),
        exception_message: "the server stopped while the run was going on".to_owned(),
        exception_stack_trace: Vec::new(),
    };
    let (status_events, logs, ledger) = (Vec::new(), String::new(), None);
    RunEnd {
        at,
        duration_ms,
        outcome,
        persisted: false,
        status_events,
        logs,
        content: Vec::new(),
        ledger,
        refused_at: None,
    }
}
