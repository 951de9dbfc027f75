//! The accept loop: hyper's HTTP/1 connections under bounds of ours, and an orderly end.
//!
//! `axum::serve` sets no times, so one slow client per connection would cost it nothing and hold everything; here
//! every connection has a seat ([`seats`]), a socket with times ([`socket`]) and bodies with times ([`body`]).
//! [`limits`] has the numbers.

mod body;
mod connection;
mod limits;
mod metrics;
mod raw;
mod requests;
mod seats;
mod seldom;
mod socket;
mod taking;
mod timer;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::TaskTracker;

pub(crate) use body::BodyError;
pub use limits::{BodyLimits, ConnectionLimits};
pub(crate) use requests::Peer;

use crate::app::App;
use crate::error::Error;
use crate::metrics::connection_cut;
use crate::router::{RouteRefused, router};
use connection::{Client, Hosting};
use seats::Seats;

/// A pause after a failed accept (no descriptors left), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
    listener: TcpListener,
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

    /// Serves until `shutdown` completes, then admits nothing more and waits for what runs, at most 30 seconds.
    pub async fn serve(self, app: App, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        let limits = app.config().connections.clone();
        let drain_time_max = limits.drain_time_max;
        let hosting = Hosting { router: router(app.clone())?, limits, ids: app.request_ids().clone() };
        let shutdown = async {
            shutdown.await;
            app.stop_admitting();
        };
        let connections = host(self.listener, hosting, shutdown).await;
        let deadline = Instant::now() + drain_time_max;
        let drained = timeout_at(deadline, connections.wait()).await.is_ok();
        let finished = timeout_at(deadline, app.tasks().wait()).await.is_ok();
        if !(drained && finished) {
            tracing::warn!(drained, finished, "shutdown went on before everything had ended");
        }
        Ok(())
    }
}

/// Accepts connections until `shutdown`; those that are left then end with the request that they are at.
async fn host(listener: TcpListener, hosting: Hosting, shutdown: impl Future<Output = ()>) -> TaskTracker {
    let (stop, stopping) = watch::channel(false);
    let (connections, hosting) = (TaskTracker::new(), Arc::new(hosting));
    tokio::select! {
        () = accept_all(&listener, &hosting, &connections, &stopping) => {}
        () = shutdown => {}
    }
    stop.send_replace(true);
    connections.close();
    connections
}

async fn accept_all(
    listener: &TcpListener,
    hosting: &Arc<Hosting>,
    connections: &TaskTracker,
    stopping: &watch::Receiver<bool>,
) {
    let seats = Seats::new(hosting.limits.connections_max, hosting.limits.connections_per_address_max);
    loop {
        match listener.accept().await {
            Ok((mut tcp, peer)) => match seats.take(peer.ip()) {
                Some(seated) => {
                    let client = Client { tcp, address: peer.ip() };
                    connections.spawn(connection::serve(Arc::clone(hosting), client, seated, stopping.clone()));
                }
                None => {
                    connection_cut("full");
                    raw::refuse(&mut tcp, &hosting.ids.next(), Error::TooManyConnections).await;
                }
            },
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
