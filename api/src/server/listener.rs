//! A bound listener, and serving the API on it.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};

use super::accept::accept_until;
use super::connection::ListenerContext;
use crate::app::App;
use crate::router::{RouteRefused, router};

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Route(#[from] RouteRefused),
}

/// A bound listener, not yet serving.
pub struct Server {
    pub(super) listener: TcpListener,
    local_address: SocketAddr,
}

impl Server {
    /// Binds `address`; port 0 takes a free one.
    pub async fn bind(address: SocketAddr) -> Result<Self, ServerError> {
        let refused = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let local_address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, local_address })
    }

    pub fn local_address(&self) -> SocketAddr {
        self.local_address
    }

    /// Serves until `shutdown` completes with a delay. For this time the server is not ready, goes on with everything, and
    /// ends each connection with its next response, so that clients and proxies turn to other servers. Then it stops
    /// listening, and waits for the connections and tasks that are left, for at most
    /// [`super::limits::ConnectionLimits::drain_time_max`].
    pub async fn serve(self, app: App, shutdown: impl Future<Output = Duration>) -> Result<(), ServerError> {
        let limits = app.config().connections.clone();
        let drain_time_max = limits.drain_time_max;
        let context = ListenerContext { router: router(app.clone())?, limits, ids: app.request_ids().clone() };
        let shutdown = async {
            let delay = shutdown.await;
            app.readiness().end();
            app.mcp().stop(delay);
            app.invoker().stop_agent_runs();
            delay
        };
        let connections = accept_until(self.listener, context, shutdown).await;
        let deadline = Instant::now() + drain_time_max;
        let drained = timeout_at(deadline, connections.wait()).await.is_ok();
        // The connections that are left have no time for another task.
        app.tasks().stop_admitting();
        let ended = async {
            app.tasks().ended().await;
            // A run of an agent is a task, and starts workflows until its end.
            app.invoker().workflows_ended().await;
        };
        let finished = timeout_at(deadline, ended).await.is_ok();
        if !(drained && finished) {
            tracing::warn!(drained, finished, "shutdown went on before all connections and tasks had ended");
        }
        Ok(())
    }
}
