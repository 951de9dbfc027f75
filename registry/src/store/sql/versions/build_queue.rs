//! The queue of publications whose server is gone. Each is taken over by one of the servers that are there, which begins it again:
//! before its version exists, a publication has no effects.

use std::time::Duration;

use super::handle::Versions;
use crate::access::Principal;
use crate::error::Result;
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::clock::Timestamp;
use crate::operations::QueuedPublication;
use crate::store::database::{Query, Row};
use crate::store::sql::kit::row::{get, parse_column, read_exact_text};

/// Servers that begin a publication. One that ends its server each time does not end all others.
pub(in crate::store::sql) const ATTEMPTS_MAX: u32 = 3;

/// Age up to which a publication is taken over. Nobody expects it any more when the servers come back the next day, or when a
/// backup is restored.
const AGE_MAX: Duration = Duration::from_hours(1);

/// Selects the publication that has waited longest, unless its tool is busy. One that has its version is only closed.
macro_rules! select_queued {
    ($end:literal) => {
        concat!(
            "SELECT q.organization, q.operation FROM operations q
            WHERE q.state = 'running' AND q.request IS NOT NULL AND q.attempts < $1 AND q.started_at > $2
                AND q.boot NOT IN (SELECT boot FROM nodes)
                AND NOT EXISTS (SELECT 1 FROM tool_leases l
                    WHERE l.organization = q.organization AND l.tool = q.tool AND l.operation IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM builds b
                    WHERE b.organization = q.organization AND b.build = q.build AND b.state = 'succeeded')
            ORDER BY q.started_at, q.operation LIMIT 1",
            $end
        )
    };
}

const QUEUED: &str = select_queued!("");

const TAKE_OVER: &str = concat!(
    "UPDATE operations SET boot = $3, attempts = attempts + 1, build = NULL WHERE (organization, operation) = (",
    select_queued!(" {skip locked}"),
    ") RETURNING organization, operation, account, tool, request, commit_id, idempotency_key"
);

const MEMBER: &str = "SELECT m.role, r.grants FROM members m
    LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
    WHERE m.organization = $1 AND m.account = $2";

impl Versions {
    /// Takes over the publication whose server is gone and that has waited longest, if there is one.
    pub async fn take_over_publication(&self) -> Result<Option<QueuedPublication>> {
        let now = self.store.0.clock.now();
        if bind_oldest(QUEUED, now).fetch_optional(self.store.readers()).await?.is_none() {
            return Ok(None);
        }
        let boot = self.store.0.boot.clone();
        let taken = self.store.write(move |connection| {
            let query = bind_oldest(TAKE_OVER, now).bind(boot.to_string());
            Box::pin(async move { Ok(query.fetch_optional(connection).await?) })
        });
        taken.await?.as_ref().map(read).transpose()
    }

    /// Returns a user with their present grants, for work that goes on without their request.
    pub async fn principal(&self, organization: &OrganizationId, account: &AccountId) -> Result<Option<Principal>> {
        let query = Query::new(MEMBER).bind(organization.as_str()).bind(account.as_str());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        let grants = self.store.access().read_grants(&parse_column(&row, "role")?, &row)?;
        let (organization, account) = (organization.clone(), account.clone());
        Ok(Some(Principal { organization, account, grants, key: None, agent: None, address: None }))
    }
}

/// The time before which a publication must have begun to be too old, in milliseconds.
pub(in crate::store::sql) fn compute_oldest(now: Timestamp) -> i64 {
    now.before(AGE_MAX).as_milliseconds()
}

fn bind_oldest(statement: &'static str, now: Timestamp) -> Query {
    Query::new(statement).bind(ATTEMPTS_MAX).bind(compute_oldest(now))
}

fn read(row: &Row) -> Result<QueuedPublication> {
    Ok(QueuedPublication {
        id: parse_column(row, "operation")?,
        organization: parse_column(row, "organization")?,
        account: parse_column(row, "account")?,
        tool: parse_column(row, "tool")?,
        request: read_exact_text(row, "request")?,
        commit: get(row, "commit_id")?,
        has_key: get::<Option<&str>>(row, "idempotency_key")?.is_some(),
    })
}
