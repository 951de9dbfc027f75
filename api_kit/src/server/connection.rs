//! One connection, from its first byte to its last.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::early_refusal;
use super::limiter::{ConnectionPermit, EndReason};
use super::limits::{ConnectionLimits, HEAD_BYTES_MAX};
use super::peer::Peer;
use super::service::ConnectionService;
use super::socket::Socket;
use crate::error::Error;
use crate::metrics;
use crate::request_id::RequestIds;

/// Time and bytes for which the server reads a refused body before it closes the socket. Closing immediately would destroy
/// the response on its way.
const LINGER_TIME_MAX: Duration = Duration::from_secs(2);
const LINGER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The buffer of one read of discarded bytes.
const LINGER_BUFFER_BYTES: usize = 16 * 1024;

/// Bytes that the kernel may hold beside those on their way. With the kernel's default of megabytes, a slow client that
/// reads without pause would so rarely free space that it seemed to read nothing.
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// Time after which the kernel ends a connection whose client acknowledges nothing. Streams send a comment every 15 seconds,
/// so that a client without power or network is noticed within this time and one comment. The kernel would try for 15
/// minutes.
const UNACKNOWLEDGED_TIME_MAX: Duration = Duration::from_secs(60);

/// Silence after which the kernel asks whether the client is still there, and how often it asks. A request without
/// comments, such as one that waits for a run, notices by this that its client is gone.
const SILENCE_BEFORE_PROBE: Duration = Duration::from_secs(60);
const PROBE_INTERVAL: Duration = Duration::from_secs(15);

/// State shared by all connections of a listener.
pub struct ListenerContext {
    pub router: Router,
    pub limits: ConnectionLimits,
    pub ids: RequestIds,
}

/// A client whose connection is admitted.
pub(super) struct Client {
    pub(super) tcp: TcpStream,
    pub(super) peer: Peer,
    pub(super) permit: ConnectionPermit,
}

type Connection = http1::Connection<TokioIo<Socket>, ConnectionService>;

/// Serves a connection until the client, a limit or the end of the server ends it.
pub(super) async fn serve(context: Arc<ListenerContext>, client: Client) {
    let _counted = metrics::Connection::begin();
    let Client { tcp, peer, mut permit } = client;
    if let Err(error) = set_socket_options(&tcp) {
        tracing::debug!(%error, "cannot set an option of the socket");
    }
    let activity = permit.activity.clone();
    let service = ConnectionService {
        router: context.router.clone(),
        peer,
        trusted_proxies: context.limits.trusted_proxies.clone(),
        activity: activity.clone(),
        body: context.limits.body,
        git_body: context.limits.git_body,
    };
    let mut connection = build_connection(Socket::new(tcp, activity.clone()), service);
    let reason = serve_requests(&mut connection, &mut permit).await;
    let socket = connection.into_parts().io.into_inner();
    match reason {
        Some(EndReason::Evicted { is_stalled }) => {
            metrics::count_connection_cut("evicted");
            if is_stalled {
                socket.reset();
            }
        }
        Some(EndReason::SlowResponse) => metrics::count_connection_cut("slow_response"),
        Some(EndReason::Idle) => {}
        Some(EndReason::SlowHeaders) => {
            metrics::count_connection_cut("slow_headers");
            let refusal = Some(Error::HeadersTooSlow);
            close(&context.ids, socket.into_tcp(), Closing { refusal, owes_body: false }).await;
        }
        None => {
            let refusal = socket.refused_status().map(Error::no_request);
            let owes_body = activity.state().is_some_and(|state| state.owes_body);
            close(&context.ids, socket.into_tcp(), Closing { refusal, owes_body }).await;
        }
    }
}

fn set_socket_options(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    let socket = SockRef::from(tcp);
    socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX)?;
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_TIME_MAX))?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE_BEFORE_PROBE).with_interval(PROBE_INTERVAL))
}

fn build_connection(socket: Socket, service: ConnectionService) -> Connection {
    http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(socket), service)
}

/// Serves requests until the connection ends by itself (`None`) or by a limit.
async fn serve_requests(connection: &mut Connection, permit: &mut ConnectionPermit) -> Option<EndReason> {
    loop {
        let reason = tokio::select! {
            biased;
            outcome = &mut *connection => {
                if let Err(error) = outcome {
                    tracing::debug!(%error, "connection ended early");
                }
                return None;
            }
            reason = permit.wait_for_end() => reason,
        };
        if reason != EndReason::Idle || !permit.resume() {
            return Some(reason);
        }
    }
}

/// How to close a connection.
struct Closing {
    refusal: Option<Error>,
    /// The client is still sending a body.
    owes_body: bool,
}

/// Sends a refusal if there is one, and closes so that the client can read the last response.
async fn close(ids: &RequestIds, mut tcp: TcpStream, closing: Closing) {
    let is_sending = closing.owes_body || closing.refusal.is_some();
    if let Some(refusal) = closing.refusal {
        early_refusal::send(&mut tcp, &ids.next(), refusal).await;
    }
    if is_sending && tcp.shutdown().await.is_ok() {
        // However it ends: the connection is over.
        timeout(LINGER_TIME_MAX, discard(&mut tcp)).await.unwrap_or_default();
    }
}

async fn discard(tcp: &mut TcpStream) {
    let mut buffer = vec![0; LINGER_BUFFER_BYTES];
    let mut bytes_sum = 0;
    while let Ok(bytes @ 1..) = tcp.read(&mut buffer).await {
        bytes_sum += bytes;
        if bytes_sum > LINGER_BYTES_MAX {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn the_kernel_notices_clients_that_are_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (tcp, _) = listener.accept().await.unwrap();
        set_socket_options(&tcp).unwrap();
        let socket = SockRef::from(&tcp);
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), SILENCE_BEFORE_PROBE);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(UNACKNOWLEDGED_TIME_MAX));
    }
}
