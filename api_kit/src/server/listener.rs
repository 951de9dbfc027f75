//! A bound listener.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use super::accept::accept_until;
use super::connection::ListenerContext;

/// The error of an address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ListenError {
    address: SocketAddr,
    source: std::io::Error,
}

/// A bound listener, not yet serving.
pub struct Server {
    listener: TcpListener,
    local_address: SocketAddr,
}

impl Server {
    /// Binds `address`; port 0 takes a free one.
    pub async fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        let refused = |source| ListenError { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let local_address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, local_address })
    }

    pub fn local_address(&self) -> SocketAddr {
        self.local_address
    }

    /// Serves connections until `shutdown` completes, and then for the delay that it returns: meanwhile every connection ends
    /// with its next response. Returns the connections that are left.
    pub async fn accept_until(self, context: ListenerContext, shutdown: impl Future<Output = Duration>) -> TaskTracker {
        accept_until(self.listener, context, shutdown).await
    }
}
