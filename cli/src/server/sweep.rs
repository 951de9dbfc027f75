//! What a server deletes by itself when its time is over: the tapes of runs.

use std::time::Duration;

use registry::Store;

/// Tapes are kept for hours and days.
const PERIOD: Duration = Duration::from_hours(1);

/// Sweeps now and every hour.
pub async fn sweep_hourly(store: Store) {
    let mut hours = tokio::time::interval(PERIOD);
    loop {
        hours.tick().await;
        match store.sweep_tapes().await {
            Ok(0) => {}
            Ok(swept) => tracing::info!(swept, "tapes whose time was over are deleted"),
            Err(error) => tracing::error!(%error, "tapes whose time is over cannot be deleted"),
        }
    }
}
