//! Leases: one operation per tool at a time, by the database's clock.

use std::time::Duration;

use super::dialect::{Connection, Query, Row};
use super::row::{get, parsed, timestamp};
use crate::account::OrganizationId;
use crate::build::{Busy, Lease, Operation};
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::ids::{BuildId, ToolId};
use crate::principal::Principal;
use crate::store::Store;

/// Takes the tool when nobody has it or the holder's time is over.
const ACQUIRE: &str = concat!(
    "INSERT INTO tool_leases (organization, tool, fence, operation, build, holder, since, expires_at)
        SELECT organization, tool, 1, $3, $4, $5, ",
    database_now!(),
    ", ",
    database_now!(),
    " + $6 FROM tools
        WHERE organization = $1 AND tool = $2 AND deprecated = 0
    ON CONFLICT (organization, tool) DO UPDATE SET fence = tool_leases.fence + 1, operation = excluded.operation,
        build = excluded.build, holder = excluded.holder, since = excluded.since, expires_at = excluded.expires_at
        WHERE tool_leases.operation IS NULL OR tool_leases.expires_at <= ",
    database_now!(),
    "
    RETURNING fence"
);

/// Who has the tool now, if anybody.
const HOLDER: &str = concat!(
    "SELECT operation, since FROM tool_leases
    WHERE organization = $1 AND tool = $2 AND operation IS NOT NULL AND expires_at > ",
    database_now!()
);

const RENEW: &str = concat!(
    "UPDATE tool_leases SET expires_at = ",
    database_now!(),
    " + $4
    WHERE organization = $1 AND tool = $2 AND fence = $3 AND operation IS NOT NULL"
);

const RELEASE: &str = "UPDATE tool_leases SET operation = NULL, build = NULL, holder = NULL
    WHERE organization = $1 AND tool = $2 AND fence = $3 AND operation IS NOT NULL";

/// Ends what ran out, so that its fence is stale.
const INTERRUPT: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE organization = $1 AND tool = $2 AND operation IS NOT NULL";

const FAIL_ABANDONED_BUILDS: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $3,
        message = CAST('abandoned: its server stopped or took too long' AS BLOB)
    WHERE organization = $1 AND tool = $2 AND state = 'running'";

const START_BUILD: &str = "INSERT INTO builds (organization, build, tool, state, log, creator, started_at)
    VALUES ($1, $2, $3, 'running', x'', $4, $5)";

impl Store {
    /// Takes the right to change a live tool's versions for `time_to_live`. [`Error::Busy`] while another has it.
    /// A publication begins a build at the same time.
    pub async fn acquire_lease(
        &self,
        principal: &Principal,
        tool: &ToolId,
        operation: Operation,
        time_to_live: Duration,
    ) -> Result<Lease> {
        let now = self.0.clock.now();
        let asked = Lease {
            organization: principal.organization.clone(),
            tool: tool.clone(),
            fence: 0,
            build: BuildId::new(&self.0.clock),
            operation,
            holder: principal.user.clone(),
            acquired_at: now,
        };
        self.write(move |connection| Box::pin(async move { acquire(connection, asked, time_to_live, now).await })).await
    }

    /// Moves the expiry to `time_to_live` from now. [`Error::LeaseLost`] when another operation took over.
    pub async fn renew_lease(&self, lease: &Lease, time_to_live: Duration) -> Result<()> {
        let lease = lease.clone();
        self.write(move |connection| {
            Box::pin(async move {
                let query = held(RENEW, &lease).bind(milliseconds(time_to_live));
                still_held(query.execute(connection).await?.rows_affected())
            })
        })
        .await
    }

    /// Gives the tool back. [`Error::LeaseLost`] when another operation took over.
    pub async fn release_lease(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.write(move |connection| Box::pin(async move { release(connection, &lease).await })).await
    }
}

/// Gives the tool back, or fails when the fence is stale: the guard of every write under a lease.
pub(super) async fn release(connection: &mut Connection, lease: &Lease) -> Result<()> {
    still_held(held(RELEASE, lease).execute(connection).await?.rows_affected())
}

/// Fails while an operation holds the tool; an expired one loses its fence.
pub(super) async fn interrupt_expired(
    connection: &mut Connection,
    organization: &OrganizationId,
    tool: &ToolId,
    now: Timestamp,
) -> Result<()> {
    if let Some(busy) = holder(connection, organization, tool).await? {
        return Err(busy.into());
    }
    let query = sqlx::query(INTERRUPT).bind(organization.as_str()).bind(tool.as_str());
    query.execute(&mut *connection).await?;
    fail_abandoned_builds(connection, organization, tool, now).await
}

async fn fail_abandoned_builds(
    connection: &mut Connection,
    organization: &OrganizationId,
    tool: &ToolId,
    now: Timestamp,
) -> Result<()> {
    let query = sqlx::query(FAIL_ABANDONED_BUILDS).bind(organization.as_str()).bind(tool.as_str());
    query.bind(now.as_milliseconds()).execute(connection).await?;
    Ok(())
}

async fn acquire(connection: &mut Connection, asked: Lease, time_to_live: Duration, now: Timestamp) -> Result<Lease> {
    let query = sqlx::query(ACQUIRE).bind(asked.organization.as_str()).bind(asked.tool.as_str());
    let query = query.bind(asked.operation.as_str()).bind(asked.build.as_str()).bind(asked.holder.as_str());
    let taken = query.bind(milliseconds(time_to_live)).fetch_optional(&mut *connection).await?;
    let Some(row) = taken else {
        return Err(refusal(connection, &asked).await?);
    };
    let lease = Lease { fence: get(&row, "fence")?, ..asked };
    fail_abandoned_builds(connection, &lease.organization, &lease.tool, now).await?;
    if operation_builds(lease.operation) {
        start_build(connection, &lease, now).await?;
    }
    Ok(lease)
}

const fn operation_builds(operation: Operation) -> bool {
    matches!(operation, Operation::Publish)
}

async fn start_build(connection: &mut Connection, lease: &Lease, now: Timestamp) -> Result<()> {
    let query = sqlx::query(START_BUILD).bind(lease.organization.as_str()).bind(lease.build.as_str());
    let query = query.bind(lease.tool.as_str()).bind(lease.holder.as_str()).bind(now.as_milliseconds());
    query.execute(connection).await?;
    Ok(())
}

/// Why the lease was not given: somebody has it, or the tool is not there.
async fn refusal(connection: &mut Connection, asked: &Lease) -> Result<Error> {
    let busy = holder(connection, &asked.organization, &asked.tool).await?;
    Ok(busy.map_or(Error::NotFound { what: "tool" }, Error::from))
}

async fn holder(connection: &mut Connection, organization: &OrganizationId, tool: &ToolId) -> Result<Option<Busy>> {
    let query = sqlx::query(HOLDER).bind(organization.as_str()).bind(tool.as_str());
    query.fetch_optional(connection).await?.as_ref().map(read_busy).transpose()
}

fn read_busy(row: &Row) -> Result<Busy> {
    Ok(Busy { operation: parsed(row, "operation")?, since: timestamp(row, "since")? })
}

/// A statement about the lease as `$1`, `$2` and `$3`.
fn held(statement: &'static str, lease: &Lease) -> Query {
    let query = sqlx::query(statement).bind(lease.organization.to_string()).bind(lease.tool.to_string());
    query.bind(lease.fence)
}

const fn still_held(rows_affected: u64) -> Result<()> {
    if rows_affected == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)
}
