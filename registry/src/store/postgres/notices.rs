//! Notices of changes, which servers send each other through the database.

use std::time::Duration;

use sqlx::Executor as _;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::{sleep, timeout};

use super::settings::CONNECT_TIME_MAX;
use crate::store::database::Hear;

/// The channel of notices.
pub(super) const CHANNEL: &str = "lathe_changes";

/// Time between two attempts to listen. What servers have in memory is good for about as long.
const PAUSE: Duration = Duration::from_millis(500);

/// Time without a notice after which the connection is tested: servers that change nothing send none.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// Time in which the test is answered.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// Passes on every notice, and `None` whenever notices may have been missed.
pub(super) async fn watch(options: PgConnectOptions, hear: Hear) {
    loop {
        if let Err(error) = listen(&options, &hear).await {
            tracing::warn!(%error, "notices of other servers do not arrive; trying again");
        }
        hear(None);
        sleep(PAUSE).await;
    }
}

async fn listen(options: &PgConnectOptions, hear: &Hear) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(CONNECT_TIME_MAX);
    let pool = pool.connect_with(options.clone()).await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    hear(None);
    loop {
        match timeout(SILENCE_MAX, listener.try_recv()).await {
            Ok(Ok(Some(notice))) => hear(Some(notice.payload())),
            // The connection was lost.
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            Err(_) => test(&mut listener).await?,
        }
    }
}

/// Tests the connection. A connection that was cut on its way has no end of its own.
async fn test(listener: &mut PgListener) -> Result<(), sqlx::Error> {
    let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    timeout(ANSWER_TIME_MAX, listener.execute("SELECT 1")).await.map_err(late)??;
    Ok(())
}
