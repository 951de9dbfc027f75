//! Runs of agents whose server is gone: this server goes on with them.

use futures_util::future::join;
use registry::Nodes;
use tokio::time::sleep;

use crate::app::App;
use crate::take_over::take_over;

/// Runs that a server has taken over and works on at the same time. Others wait for their turn, or for another server.
const PARALLEL_MAX: usize = 32;

/// Goes on with runs whose server is gone, and with those that nobody has answered, until this server is about to end.
pub async fn take_over_agent_runs(app: App) {
    join(expire_requests(app.clone()), take_over_runs(app)).await;
}

async fn expire_requests(app: App) {
    while !app.readiness().is_ending() {
        if let Err(error) = app.agents().runs.expire_human_requests().await {
            tracing::warn!(%error, "cannot look for requests that nobody has answered");
        }
        sleep(Nodes::HEARTBEAT).await;
    }
}

async fn take_over_runs(app: App) {
    let next = |app: App| async move {
        let found = app.agents().runs.take_over().await?;
        Ok::<_, agents::Error>(found.map(|work| carry_on(app, work)))
    };
    take_over(app, PARALLEL_MAX, next).await;
}

/// Works on a run in a task of its own, which the shutdown waits for.
async fn carry_on(app: App, work: agents::AgentRunLoop) {
    tracing::info!(run = %work.run().0.id, "a run of an agent goes on here: its server is gone");
    // A server that stops leaves the run to the others.
    let Ok(working) = app.tasks().spawn(work.to_its_end()) else { return };
    if let Ok(Err(error)) = working.await {
        tracing::error!(%error, "a run of an agent cannot be written");
    }
}
