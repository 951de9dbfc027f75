//! Hourly deletion of expired recordings of runs, of runs of tools and of agents whose time is over, of expired recorded responses, of expired authorisations of clients, of the temporary files of killed
//! publications, of old counts of requests, and of git objects that no ref reaches; and preparation of the next months and of statistics.

use std::time::Duration;

use agents::AgentStore;
use registry::{Artifacts, Recordings, Result, Store, Timestamp};
use repository::GitServer;
use tokio::time::MissedTickBehavior;

/// Retention is set in hours and days.
const PERIOD: Duration = Duration::from_hours(1);

/// Each look is one query of a table that is empty as a rule.
const REPAIR_PERIOD: Duration = Duration::from_secs(5);

/// Deletes expired recordings, runs, recorded responses and temporary files of artifacts now and every hour.
pub async fn sweep_hourly(agent_store: AgentStore, artifacts: Artifacts) {
    let store = agent_store.registry();
    let recordings = Recordings::of(store, &artifacts);
    let mut hours = tokio::time::interval(PERIOD);
    loop {
        hours.tick().await;
        if let Err(error) = store.prepare().await {
            tracing::error!(%error, "the database cannot be prepared for the time to come");
        }
        log_sweep("tapes", recordings.delete_expired().await);
        log_sweep("bodies of recordings", recordings.delete_unused_bodies().await);
        log_sweep("runs", store.history().delete_expired_runs().await);
        log_sweep("runs of agents", agent_store.agent_runs().delete_expired_agent_runs().await);
        log_sweep("counts of requests", store.access().delete_restored_counts().await);
        log_sweep("answered attempts", store.operations().delete_expired_attempts().await);
        log_sweep("authorisations of clients", store.access().delete_expired_authorizations().await);
        log_sweep("deleted library items", agent_store.delete_expired_library_items().await);
        log_sweep("recorded answers", store.history().delete_expired_answers().await);
        log_sweep("files of artifacts", artifacts.delete_unfinished(subtract_period(store)).await);
        log_sweep("files of bodies", artifacts.bodies().delete_unfinished(subtract_period(store)).await);
    }
}

fn subtract_period(store: &Store) -> Timestamp {
    let milliseconds = i64::try_from(PERIOD.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_milliseconds(store.clock().now().as_milliseconds().saturating_sub(milliseconds))
}

/// Collects git garbage now and every hour, one repository after the other.
pub async fn collect_hourly(git: GitServer) {
    let mut hours = tokio::time::interval(PERIOD);
    loop {
        hours.tick().await;
        git.collect_garbage().await;
    }
}

/// Stores damaged packs of shared repositories again, if this server has them. A clone at another server waits for it.
pub async fn repair_packs(git: GitServer) {
    let mut looks = tokio::time::interval(REPAIR_PERIOD);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        git.repair_packs().await;
    }
}

fn log_sweep(what: &str, swept: Result<u64>) {
    match swept {
        Ok(0) => {}
        Ok(swept) => tracing::info!(swept, "expired {what} are deleted"),
        Err(error) => tracing::error!(%error, "expired {what} cannot be deleted"),
    }
}
