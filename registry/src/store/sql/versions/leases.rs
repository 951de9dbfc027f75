//! Leases: one publication per tool at a time, by the database's clock.

use std::time::Duration;

use super::handle::Versions;
use crate::access::Principal;
use crate::error::{Error, Result};
use crate::kit::clock::Timestamp;
use crate::kit::ids::{BootId, BuildId, ToolId};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::row::{get, read_timestamp};
use crate::tools::ToolRef;
use crate::versions::{Busy, Lease};

/// Takes the lease of a live tool when it is free or has expired.
const ACQUIRE: &str = "INSERT INTO tool_leases (organization, tool, fence, operation, build, holder, since, expires_at, boot)
        SELECT organization, tool, 1, 'publish', $3, $4, {now}, {now} + $5, $6 FROM tools
        WHERE organization = $1 AND tool = $2 AND deprecated = 0
    ON CONFLICT (organization, tool) DO UPDATE SET fence = tool_leases.fence + 1, operation = excluded.operation,
        boot = excluded.boot, build = excluded.build, holder = excluded.holder, since = excluded.since, expires_at = excluded.expires_at
        WHERE tool_leases.operation IS NULL OR tool_leases.expires_at <= {now}
    RETURNING fence";

const HELD_SINCE: &str = "SELECT since FROM tool_leases
    WHERE organization = $1 AND tool = $2 AND operation IS NOT NULL AND expires_at > {now}";

const LIVE_TOOL: &str = "SELECT tool FROM tools WHERE organization = $1 AND tool = $2 AND deprecated = 0";

const RENEW: &str = "UPDATE tool_leases SET expires_at = {now} + $4
    WHERE organization = $1 AND tool = $2 AND fence = $3 AND operation IS NOT NULL";

const RELEASE: &str = "UPDATE tool_leases SET operation = NULL, build = NULL, holder = NULL
    WHERE organization = $1 AND tool = $2 AND fence = $3 AND operation IS NOT NULL";

/// Ends an expired lease and makes its fence stale.
const INTERRUPT: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE organization = $1 AND tool = $2 AND operation IS NOT NULL";

/// Takes back a lease that its caller did not get.
const TAKE_BACK: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE organization = $1 AND tool = $2 AND build = $3 AND operation IS NOT NULL";

const TAKE_BACK_BUILD: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $3, message = $4
    WHERE organization = $1 AND build = $2 AND state = 'running'";

const FAIL_ABANDONED_BUILDS: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $3,
        message = $4
    WHERE organization = $1 AND tool = $2 AND state = 'running'";

/// The message of a build whose lease expired.
const ABANDONED: &str = "abandoned: its server stopped or took too long";

const START_BUILD: &str = "INSERT INTO builds (organization, build, tool, state, log, creator, started_at, boot)
    VALUES ($1, $2, $3, 'running', $6, $4, $5, $7)";

impl Versions {
    /// Takes the lease of a live tool for `time_to_live` and begins a build. [`Error::Busy`] while another publication holds
    /// the lease.
    pub async fn acquire_lease(&self, principal: &Principal, tool: &ToolId, time_to_live: Duration) -> Result<Lease> {
        let asked = Lease {
            organization: principal.organization.clone(),
            tool: tool.clone(),
            fence: 0,
            build: BuildId::new(&self.store.0.clock),
            holder: principal.user(),
            acquired_at: self.store.0.clock.now(),
        };
        let acquisition = Acquisition { lease: asked.clone(), boot: self.store.0.boot.clone(), time_to_live };
        let acquired = self.store.write(move |connection| Box::pin(acquisition.acquire(connection))).await;
        if let Err(error) = &acquired {
            let store = self.store.clone();
            self.store.0.lost_commits.after(error, move || {
                let (store, asked) = (store.clone(), asked.clone());
                async move { store.write(move |connection| Box::pin(take_back(connection, asked))).await }
            });
        }
        acquired
    }

    /// Moves the expiry to `time_to_live` from now. [`Error::LeaseLost`] when the lease was taken over.
    pub async fn renew_lease(&self, lease: &Lease, time_to_live: Duration) -> Result<()> {
        let lease = lease.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let query = bind_lease(RENEW, &lease).bind(to_milliseconds(time_to_live));
                    require_held(query.execute(connection).await?)
                })
            })
            .await
    }
}

/// Releases the lease. Fails when its fence is stale, so that every write under a lease begins with this call.
pub(super) async fn release(connection: &mut Connection, lease: &Lease) -> Result<()> {
    require_held(bind_lease(RELEASE, lease).execute(connection).await?)
}

/// Fails while a publication holds the tool. Ends an expired lease.
pub(in crate::store::sql) async fn interrupt_expired(
    connection: &mut Connection,
    of: ToolRef<'_>,
    now: Timestamp,
) -> Result<()> {
    if let Some(busy) = find_busy(connection, of).await? {
        return Err(busy.into());
    }
    let query = Query::new(INTERRUPT).bind(of.organization.as_str()).bind(of.tool.as_str());
    query.execute(&mut *connection).await?;
    fail_abandoned_builds(connection, of, now).await
}

async fn fail_abandoned_builds(connection: &mut Connection, of: ToolRef<'_>, now: Timestamp) -> Result<()> {
    let query = Query::new(FAIL_ABANDONED_BUILDS).bind(of.organization.as_str()).bind(of.tool.as_str());
    query.bind(now.as_milliseconds()).bind(ABANDONED.as_bytes()).execute(connection).await?;
    Ok(())
}

/// Ends a lease and its build, which nobody holds, if the database has them.
async fn take_back(connection: &mut Connection, asked: Lease) -> Result<()> {
    let query = Query::new(TAKE_BACK).bind(asked.organization.as_str()).bind(asked.tool.as_str());
    query.bind(asked.build.as_str()).execute(&mut *connection).await?;
    let query = Query::new(TAKE_BACK_BUILD).bind(asked.organization.as_str()).bind(asked.build.as_str());
    query.bind(asked.acquired_at.as_milliseconds()).bind(ABANDONED.as_bytes()).execute(connection).await?;
    Ok(())
}

/// A lease that a server asks for.
struct Acquisition {
    lease: Lease,
    boot: BootId,
    time_to_live: Duration,
}

impl Acquisition {
    async fn acquire(self, connection: &mut Connection) -> Result<Lease> {
        let Self { lease: asked, boot, time_to_live } = self;
        let query = Query::new(ACQUIRE).bind(asked.organization.as_str()).bind(asked.tool.as_str());
        let query = query.bind(asked.build.as_str()).bind(asked.holder.as_str()).bind(to_milliseconds(time_to_live));
        let taken = query.bind(boot.as_str()).fetch_optional(&mut *connection).await?;
        let Some(row) = taken else {
            return Err(find_refusal(connection, &asked).await?);
        };
        let lease = Lease { fence: get(&row, "fence")?, ..asked };
        fail_abandoned_builds(connection, get_tool(&lease), lease.acquired_at).await?;
        start_build(connection, &lease, &boot).await?;
        Ok(lease)
    }
}

async fn start_build(connection: &mut Connection, lease: &Lease, boot: &BootId) -> Result<()> {
    let query = Query::new(START_BUILD).bind(lease.organization.as_str()).bind(lease.build.as_str());
    let query = query.bind(lease.tool.as_str()).bind(lease.holder.as_str()).bind(lease.acquired_at.as_milliseconds());
    query.bind(Vec::new()).bind(boot.as_str()).execute(connection).await?;
    Ok(())
}

/// Returns why the lease was refused: another publication holds it, or held it a moment ago, or the tool does not exist.
async fn find_refusal(connection: &mut Connection, asked: &Lease) -> Result<Error> {
    if let Some(busy) = find_busy(connection, get_tool(asked)).await? {
        return Ok(busy.into());
    }
    let query = Query::new(LIVE_TOOL).bind(asked.organization.as_str()).bind(asked.tool.as_str());
    Ok(match query.fetch_optional(connection).await? {
        Some(_) => Busy { since: asked.acquired_at }.into(),
        None => Error::NotFound { what: "tool" },
    })
}

async fn find_busy(connection: &mut Connection, of: ToolRef<'_>) -> Result<Option<Busy>> {
    let query = Query::new(HELD_SINCE).bind(of.organization.as_str()).bind(of.tool.as_str());
    let row = query.fetch_optional(connection).await?;
    row.map(|row| Ok(Busy { since: read_timestamp(&row, "since")? })).transpose()
}

/// Binds the organisation, the tool and the fence of a lease as `$1`, `$2` and `$3`.
fn bind_lease(statement: &'static str, lease: &Lease) -> Query {
    let query = Query::new(statement).bind(lease.organization.to_string()).bind(lease.tool.to_string());
    query.bind(lease.fence)
}

const fn get_tool(lease: &Lease) -> ToolRef<'_> {
    ToolRef { organization: &lease.organization, tool: &lease.tool }
}

const fn require_held(rows_affected: u64) -> Result<()> {
    if rows_affected == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

fn to_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)
}
