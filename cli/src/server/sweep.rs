//! What a server deletes by itself when its time is over: the tapes of runs, and recorded answers.

use std::time::Duration;

use registry::{Result, Store};

/// What is swept is kept for hours and days.
const PERIOD: Duration = Duration::from_hours(1);

/// Sweeps now and every hour.
pub async fn sweep_hourly(store: Store) {
    let mut hours = tokio::time::interval(PERIOD);
    loop {
        hours.tick().await;
        tell("tapes", store.sweep_tapes().await);
        tell("recorded answers", store.sweep_answers().await);
    }
}

fn tell(what: &str, swept: Result<u64>) {
    match swept {
        Ok(0) => {}
        Ok(swept) => tracing::info!(swept, "{what} whose time was over are deleted"),
        Err(error) => tracing::error!(%error, "{what} whose time is over cannot be deleted"),
    }
}
