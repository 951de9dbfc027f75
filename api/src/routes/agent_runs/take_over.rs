//! Runs of agents whose server is gone: this server goes on with them.

use registry::Store;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::app::App;

/// Runs that a server has taken over and works on at the same time. Others wait for their turn, or for another server.
const PARALLEL_MAX: usize = 32;

/// Goes on with runs whose server is gone, until this one is about to end.
pub async fn take_over_agent_runs(app: App) {
    let mut going_on = JoinSet::new();
    while !app.readiness().is_ending() {
        while going_on.try_join_next().is_some() {}
        if going_on.len() >= PARALLEL_MAX {
            going_on.join_next().await;
            continue;
        }
        match app.invoker().take_over_agent_run().await {
            Ok(Some(work)) => drop(going_on.spawn(carry_on(app.clone(), work))),
            Ok(None) => sleep(Store::HEARTBEAT).await,
            Err(error) => {
                tracing::debug!(%error, "cannot look for runs of agents whose server is gone");
                sleep(Store::HEARTBEAT).await;
            }
        }
    }
}

/// Works on a run in a task of its own, which the shutdown waits for.
async fn carry_on(app: App, work: runner::AgentRunLoop) {
    tracing::info!(run = %work.run().0.id, "a run of an agent goes on here: its server is gone");
    // A server that stops leaves the run to the others.
    let Ok(working) = app.tasks().spawn(work.to_its_end()) else { return };
    if let Ok(Err(error)) = working.await {
        tracing::error!(%error, "a run of an agent cannot be written");
    }
}
