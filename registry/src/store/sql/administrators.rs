//! The rule that every organisation keeps an administrator.

use super::dialect::Connection;
use crate::account::OrganizationId;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::role::ADMINISTRATOR;

const COUNT: &str = "SELECT count(*) FROM members m
    LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
    WHERE m.organization = $1 AND (m.role = $2 OR r.administers = 1)
        AND EXISTS (SELECT 1 FROM api_keys k WHERE k.organization = m.organization AND k.user_id = m.user_id
            AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $3))";

/// Fails when no administrator with a valid key is left. Called at the end of every change that can take a key or the
/// right to administer from a user. Users who cannot sign in do not count.
pub(super) async fn require_administrator(
    connection: &mut Connection,
    organization: &OrganizationId,
    now: Timestamp,
) -> Result<()> {
    let query = sqlx::query_scalar(COUNT).bind(organization.as_str()).bind(ADMINISTRATOR);
    let administrators: i64 = query.bind(now.as_milliseconds()).fetch_one(connection).await?;
    if administrators == 0 { Err(Error::LastAdministrator) } else { Ok(()) }
}
