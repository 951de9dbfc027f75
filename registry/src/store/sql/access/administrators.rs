//! The rule that every organisation keeps an administrator.

use crate::access::ADMINISTRATOR;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::store::database::{Connection, Query};

const COUNT: &str = "SELECT count(*) AS administrators FROM members m
    LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
    WHERE m.organization = $1 AND (m.role = $2 OR r.administers = 1)
        AND EXISTS (SELECT 1 FROM api_keys k WHERE k.organization = m.organization AND k.account = m.account
            AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $3))";

/// Fails when no administrator with a valid key is left. Called at the end of every change that can take a key or the
/// right to administer from a user. Users who cannot sign in do not count.
pub(super) async fn require_administrator(
    connection: &mut Connection,
    organization: &OrganizationId,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(COUNT).bind(organization.as_str()).bind(ADMINISTRATOR);
    let query = query.bind(now.as_milliseconds());
    let administrators: i64 = query.fetch_column("administrators", connection).await?;
    if administrators == 0 { Err(Error::LastAdministrator) } else { Ok(()) }
}
