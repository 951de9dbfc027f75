//! Attempts of calls whose questions were answered. Each is answered once.

use super::handle::Operations;
use crate::error::Result;
use crate::kit::clock::Timestamp;
use crate::kit::ids::RunId;
use crate::store::database::Query;

const INSERT: &str = "INSERT INTO answered_attempts (invocation, expires_at) VALUES ($1, $2)
    ON CONFLICT (invocation) DO NOTHING";

const DELETE_EXPIRED: &str = "DELETE FROM answered_attempts WHERE expires_at <= {now} - 3600000";

impl Operations {
    /// Keeps that the questions of an attempt were answered, until nobody can answer them any more. Returns `false` when they
    /// were answered before.
    pub async fn answer_attempt(&self, attempt: &RunId, until: Timestamp) -> Result<bool> {
        let query = Query::new(INSERT).bind(attempt.as_str()).bind(until.as_milliseconds());
        self.store.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await? > 0) })).await
    }

    /// Deletes the attempts that nobody can answer any more, an hour later: clocks of servers differ. Returns their number.
    pub async fn delete_expired_attempts(&self) -> Result<u64> {
        self.store
            .write(|connection| Box::pin(async move { Ok(Query::new(DELETE_EXPIRED).execute(connection).await?) }))
            .await
    }
}
