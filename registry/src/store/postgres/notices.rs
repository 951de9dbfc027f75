//! Notices of commits, which servers send each other through the database.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::{sleep, timeout};

use super::settings::CONNECT_TIME_MAX;

/// The channel of notices.
pub(super) const CHANNEL: &str = "lathe_changes";

/// Time between two attempts to listen. What servers have in memory is good for about as long.
const PAUSE: Duration = Duration::from_millis(500);

/// Time without a notice after which notices are taken for lost: each server, also this one, makes one with every heartbeat.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Calls `changed` for every notice, and whenever notices may have been missed.
pub(super) async fn watch(options: PgConnectOptions, changed: Box<dyn Fn() + Send + Sync>) {
    loop {
        if let Err(error) = listen(&options, &*changed).await {
            tracing::warn!(%error, "notices of other servers do not arrive; trying again");
        }
        changed();
        sleep(PAUSE).await;
    }
}

async fn listen(options: &PgConnectOptions, changed: &(dyn Fn() + Send + Sync)) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(CONNECT_TIME_MAX);
    let pool = pool.connect_with(options.clone()).await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    changed();
    while let Ok(notice) = timeout(SILENCE_MAX, listener.try_recv()).await {
        if notice?.is_none() {
            break;
        }
        changed();
    }
    Ok(())
}
