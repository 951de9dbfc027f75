//! The accept loop of one listener, and its orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::connection::{Client, ListenerContext, serve};
use super::handshakes::refuse_handshakes;
use super::limiter::Limiter;
use super::peer::Peer;
use super::probes::{self, ProbeReserve};

/// A pause after a failed accept (no descriptors left), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Time for the last packet of a handshake that has begun before new ones are refused: several round trips between
/// machines of a region.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_millis(50);

/// Accepts connections until `shutdown`, and then for the delay that it returns: meanwhile every connection ends with its
/// next response. Returns the connections that are left.
pub(super) async fn accept_until(
    listener: TcpListener,
    context: ListenerContext,
    shutdown: impl Future<Output = Duration>,
) -> TaskTracker {
    let limiter = Limiter::start(context.limits.clone());
    let acceptor = Acceptor {
        context: Arc::new(context),
        limiter,
        probes: ProbeReserve::default(),
        connections: TaskTracker::new(),
    };
    let ending = async {
        let delay = shutdown.await;
        acceptor.limiter.drain(delay);
        sleep(delay).await;
    };
    tokio::select! {
        () = acceptor.accept_all(&listener) => {}
        () = ending => {}
    }
    acceptor.accept_last(listener).await;
    acceptor.connections.close();
    acceptor.connections
}

struct Acceptor {
    context: Arc<ListenerContext>,
    limiter: Arc<Limiter>,
    probes: ProbeReserve,
    connections: TaskTracker,
}

impl Acceptor {
    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((tcp, address)) => self.admit(tcp, address),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Closes the listener. The kernel resets the connections that it has accepted and the program has not, so these are
    /// accepted first.
    async fn accept_last(&self, listener: TcpListener) {
        if let Err(error) = refuse_handshakes(&listener) {
            tracing::debug!(%error, "connections that are opened at this moment may be reset");
        }
        // Accepting goes on until the time is over.
        timeout(HANDSHAKE_TIME_MAX, self.accept_all(&listener)).await.unwrap_or_default();
        // The runtime may not have heard of the last ones yet.
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((tcp, address)) = listener.accept() {
            let registered = tcp.set_nonblocking(true).and_then(|()| TcpStream::from_std(tcp));
            if let Ok(tcp) = registered {
                self.admit(tcp, address);
            }
        }
    }

    fn admit(&self, tcp: TcpStream, address: SocketAddr) {
        let (context, peer) = (Arc::clone(&self.context), Peer(address.ip()));
        match self.limiter.admit(peer) {
            Some(permit) => self.connections.spawn(serve(context, Client { tcp, peer, permit })),
            None => self.connections.spawn(probes::serve(context, tcp, peer, self.probes.admit(peer))),
        };
    }
}
