//! The accept loop of one listener.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{Client, ListenerContext, serve};
use super::early_refusal;
use super::limiter::Limiter;
use super::peer::Peer;
use crate::error::Error;
use crate::metrics::connection_cut;

/// A pause after a failed accept (no descriptors left), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until `shutdown`. Each open connection then ends after its current request.
pub(super) async fn accept_until(
    listener: TcpListener,
    context: ListenerContext,
    shutdown: impl Future<Output = ()>,
) -> TaskTracker {
    let (connections, context) = (TaskTracker::new(), Arc::new(context));
    let stopping = CancellationToken::new();
    tokio::select! {
        () = accept_all(listener, &context, OpenConnections { connections: &connections, stopping: &stopping }) => {}
        () = shutdown => {}
    }
    stopping.cancel();
    connections.close();
    connections
}

/// Open connections and their shutdown token.
struct OpenConnections<'a> {
    connections: &'a TaskTracker,
    stopping: &'a CancellationToken,
}

async fn accept_all(listener: TcpListener, context: &Arc<ListenerContext>, open: OpenConnections<'_>) {
    let limiter = Limiter::start(context.limits.clone());
    loop {
        match listener.accept().await {
            Ok((mut tcp, address)) => {
                let peer = Peer(address.ip());
                if let Some(permit) = limiter.admit(peer) {
                    let client = Client { tcp, peer, permit };
                    open.connections.spawn(serve(Arc::clone(context), client, open.stopping.child_token()));
                } else {
                    connection_cut("full");
                    early_refusal::send(&mut tcp, &context.ids.next(), Error::TooManyConnections).await;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
