//! Serving the API on a bound listener, until its orderly end.

use std::time::Duration;

use api_kit::metrics;
use api_kit::server::{ListenerContext, Server};
use tokio::time::{Instant, timeout_at};

use crate::app::App;
use crate::router::{RouteRefused, build_router};

/// Describes the metrics of the API to the recorder.
pub fn describe_metrics() {
    metrics::describe();
    mcp::describe_metrics();
}

/// Serves until `shutdown` completes with a delay. For this time the server is not ready, goes on with everything, and
/// ends each connection with its next response, so that clients and proxies turn to other servers. Then it stops
/// listening, and waits for the connections and tasks that are left, for at most
/// [`ConnectionLimits::drain_time_max`](crate::ConnectionLimits::drain_time_max).
pub async fn serve(server: Server, app: App, shutdown: impl Future<Output = Duration>) -> Result<(), RouteRefused> {
    let limits = app.config().connections.clone();
    let drain_time_max = limits.drain_time_max;
    let context = ListenerContext { router: build_router(app.clone())?, limits, ids: app.request_ids().clone() };
    let shutdown = async {
        let delay = shutdown.await;
        app.readiness().end();
        app.mcp().stop(delay);
        app.agents().runs.stop();
        delay
    };
    let connections = server.accept_until(context, shutdown).await;
    let deadline = Instant::now() + drain_time_max;
    let drained = timeout_at(deadline, connections.wait()).await.is_ok();
    // The connections that are left have no time for another task.
    app.tasks().stop_admitting();
    let ended = async {
        app.tasks().wait_until_ended().await;
        // A run of an agent is a task, and starts workflows until its end.
        app.agents().runs.workflows_ended().await;
    };
    let finished = timeout_at(deadline, ended).await.is_ok();
    if !(drained && finished) {
        tracing::warn!(drained, finished, "shutdown went on before all connections and tasks had ended");
    }
    Ok(())
}
