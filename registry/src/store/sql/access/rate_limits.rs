//! Counting the requests of users over all servers of a database, by its clock.

use std::time::Duration;

use super::handle::Access;
use crate::error::Result;
use crate::store::database::Query;
use crate::store::sql::kit::row::get;

const MINUTE: i64 = 60_000_000;

/// Counts a request, if the requests of a minute are not used up. `$2` is the time in which one request is restored.
const COUNT: &str = "INSERT INTO rate_limits (name, restored_at) VALUES ($1, {now} * 1000 + $2)
    ON CONFLICT (name) DO UPDATE SET restored_at = $2 +
        CASE WHEN rate_limits.restored_at > {now} * 1000 THEN rate_limits.restored_at ELSE {now} * 1000 END
    WHERE rate_limits.restored_at + $2 <= {now} * 1000 + $3
    RETURNING restored_at - {now} * 1000 AS restored_in";

const USED_UP: &str = "SELECT restored_at - {now} * 1000 AS restored_in FROM rate_limits WHERE name = $1";

const DELETE_RESTORED: &str = "DELETE FROM rate_limits WHERE restored_at < {now} * 1000";

/// A counted request of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRequest {
    pub is_admitted: bool,
    /// Time until all requests of a minute are restored.
    pub restored_in: Duration,
}

impl Access {
    /// Counts a request under a name, of which `per_minute` are admitted on all servers together. `None` when this server is the
    /// only one.
    pub async fn count_request(&self, name: &str, per_minute: u32) -> Result<Option<CountedRequest>> {
        let Some(counters) = self.store.counters() else { return Ok(None) };
        let interval = MINUTE / i64::from(per_minute.max(1));
        let burst = interval * i64::from(per_minute.max(1));
        let count = Query::new(COUNT).bind(name).bind(interval).bind(burst).fetch_optional(counters).await?;
        let is_admitted = count.is_some();
        let row = match count {
            Some(row) => Some(row),
            None => Query::new(USED_UP).bind(name).fetch_optional(counters).await?,
        };
        let microseconds: i64 = row.map_or(Ok(0), |row| get(&row, "restored_in"))?;
        let restored_in = Duration::from_micros(u64::try_from(microseconds).unwrap_or(0));
        Ok(Some(CountedRequest { is_admitted, restored_in }))
    }

    /// Deletes the counts of users whose requests are restored. Returns their number.
    pub async fn delete_restored_counts(&self) -> Result<u64> {
        let Some(counters) = self.store.counters() else { return Ok(0) };
        Ok(Query::new(DELETE_RESTORED).execute(counters).await?)
    }
}
