//! The accept loop: hyper's HTTP/1 connection under bounds of ours, and an orderly end.
//!
//! `axum::serve` sets no header timer, so one slow client per connection would cost nothing and hold everything;
//! here a client has ten seconds for its headers, between requests too.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};

use crate::app::App;
use crate::router::{RouteRefused, router};

/// Time for the headers of a request, from the first byte awaited to the last.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);

/// Clients of the contract send about a dozen.
const HEADERS_MAX: usize = 64;

/// Request line and headers; also what hyper reads ahead.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Each costs one file descriptor and up to two buffers; below the usual limit of 1,024 descriptors per process.
const CONNECTIONS_MAX: usize = 768;

/// What is running has this long to end after the shutdown began.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

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
        let router = router(app.clone())?;
        let connections = GracefulShutdown::new();
        tokio::select! {
            () = accept_all(&self.listener, &router, &connections) => {}
            () = shutdown => {}
        }
        drop(self.listener);
        app.stop_admitting();
        let deadline = Instant::now() + DRAIN_TIME_MAX;
        let drained = timeout_at(deadline, connections.shutdown()).await.is_ok();
        let finished = timeout_at(deadline, app.tasks().wait()).await.is_ok();
        if !(drained && finished) {
            tracing::warn!(drained, finished, "shutdown went on before everything had ended");
        }
        Ok(())
    }
}

async fn accept_all(listener: &TcpListener, router: &Router, connections: &GracefulShutdown) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let connection = connections.watch(serve_connection(stream, router.clone()));
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "connection ended early");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

type Connection = http1::Connection<TokioIo<TcpStream>, TowerToHyperService<Router>>;

fn serve_connection(stream: TcpStream, router: Router) -> Connection {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY refused");
    }
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME_MAX)
        .max_headers(HEADERS_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}
