//! Hourly deletion of expired recordings of runs, of expired recorded responses, and of git objects that no ref
//! reaches.

use std::time::Duration;

use builder::source::GitServer;
use registry::{Result, Store};

/// Retention is set in hours and days.
const PERIOD: Duration = Duration::from_hours(1);

/// Deletes expired recordings and recorded responses now and every hour.
pub async fn sweep_hourly(store: Store) {
    let mut hours = tokio::time::interval(PERIOD);
    loop {
        hours.tick().await;
        log_sweep("tapes", store.delete_expired_tapes().await);
        log_sweep("recorded answers", store.delete_expired_answers().await);
    }
}

/// Collects git garbage now and every hour, one repository after the other.
pub async fn collect_hourly(git: GitServer) {
    let mut hours = tokio::time::interval(PERIOD);
    loop {
        hours.tick().await;
        git.collect_garbage().await;
    }
}

fn log_sweep(what: &str, swept: Result<u64>) {
    match swept {
        Ok(0) => {}
        Ok(swept) => tracing::info!(swept, "expired {what} are deleted"),
        Err(error) => tracing::error!(%error, "expired {what} cannot be deleted"),
    }
}
