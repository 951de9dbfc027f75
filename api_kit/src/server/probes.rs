//! Answers to probes of the server's health beyond the limit of connections.
//!
//! A server whose connections are all in use is alive, and a probe that it refused would have it restarted. So the head of the
//! first request is read on a few more connections. A probe of health is answered, and every other request is refused. Clients
//! that fill these connections without sending have half a second for it, and the address with most of them loses its oldest.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http_body_util::{BodyExt, Limited};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower::ServiceExt;

use super::connection::ListenerContext;
use super::early_refusal;
use super::peer::Peer;
use crate::error::Error;
use crate::metrics::count_connection_cut;

/// Connections whose first request is read beyond the limit: those of a few probes, in as many milliseconds.
const CONNECTIONS_MAX: usize = 16;
/// Time for the head of the request. A probe sends it at once.
const HEAD_TIME_MAX: Duration = Duration::from_millis(500);
/// Bytes of the head, which of a probe has a few hundred.
const HEAD_BYTES_MAX: usize = 4 * 1024;
/// Time for the answer: more than the check of the database may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes of the answer, which names the parts that are not ready.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// The paths of probes.
const PATHS: [&str; 2] = ["/health/live", "/health/ready"];

/// The connections beyond the limit. Clones share them.
#[derive(Clone, Default)]
pub(super) struct ProbeReserve(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    last_number: u64,
    /// From the oldest to the newest.
    waiting: Vec<Waiting>,
}

struct Waiting {
    number: u64,
    client: IpAddr,
    /// Dropped to evict the connection.
    _evict: oneshot::Sender<()>,
}

/// A connection of the reserve. Dropping the permit releases it.
pub(super) struct ProbePermit {
    reserve: ProbeReserve,
    number: u64,
    evicted: oneshot::Receiver<()>,
}

impl ProbeReserve {
    /// Admits a connection, in the place of another one if there are as many as there may be.
    pub(super) fn admit(&self, peer: Peer) -> ProbePermit {
        let mut table = self.0.lock();
        if table.waiting.len() >= CONNECTIONS_MAX {
            table.evict();
        }
        let (evict, evicted) = oneshot::channel();
        table.last_number += 1;
        let number = table.last_number;
        table.waiting.push(Waiting { number, client: peer.client(), _evict: evict });
        ProbePermit { reserve: self.clone(), number, evicted }
    }
}

impl Table {
    /// Evicts the oldest connection of the client with most.
    fn evict(&mut self) {
        let of_client = |client| self.waiting.iter().filter(|waiting| waiting.client == client).count();
        let most = self.waiting.iter().map(|waiting| of_client(waiting.client)).max();
        let found = self.waiting.iter().position(|waiting| Some(of_client(waiting.client)) == most);
        if let Some(index) = found {
            self.waiting.remove(index);
        }
    }
}

impl Drop for ProbePermit {
    fn drop(&mut self) {
        self.reserve.0.lock().waiting.retain(|waiting| waiting.number != self.number);
    }
}

/// A request that a full server answers.
#[derive(Debug, PartialEq, Eq)]
struct Probe {
    path: &'static str,
    is_head: bool,
}

/// Answers a probe, and refuses every other client.
pub(super) async fn serve(context: Arc<ListenerContext>, mut tcp: TcpStream, peer: Peer, mut permit: ProbePermit) {
    let answered = tokio::select! {
        biased;
        // The reserve is full: what fits into the buffer of the socket is written without waiting.
        _ = &mut permit.evicted => false,
        answered = answer(&context, &mut tcp, peer) => answered,
    };
    if !answered {
        count_connection_cut("full");
        early_refusal::send(&mut tcp, &context.ids.next(), Error::TooManyConnections).await;
    }
}

/// Answers a probe; `false` for every other request, and for a client that sends none.
async fn answer(context: &ListenerContext, tcp: &mut TcpStream, peer: Peer) -> bool {
    let probe = timeout(HEAD_TIME_MAX, read_probe(tcp)).await;
    let Ok(Some(Probe { path, is_head })) = probe else { return false };
    let Ok(mut request) = Request::get(path).body(Body::empty()) else { return false };
    request.extensions_mut().insert(peer);
    let response = timeout(ANSWER_TIME_MAX, context.router.clone().oneshot(request)).await;
    let Ok(Ok(response)) = response else { return false };
    let sent = timeout(ANSWER_TIME_MAX, send(tcp, response, is_head)).await;
    if !matches!(sent, Ok(Some(()))) {
        tracing::debug!(path, "the client of a probe has left");
    }
    true
}

/// Reads a head, and returns the probe that it is.
async fn read_probe(tcp: &mut TcpStream) -> Option<Probe> {
    let mut head = Vec::new();
    loop {
        let bytes = tcp.read_buf(&mut head).await.ok()?;
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return parse(&head);
        }
        if bytes == 0 || head.len() > HEAD_BYTES_MAX {
            return None;
        }
    }
}

fn parse(head: &[u8]) -> Option<Probe> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    let is_head = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return None,
    };
    let path = target.split('?').next().unwrap_or_default();
    let path = PATHS.into_iter().find(|known| path == *known || path.strip_suffix('/') == Some(*known))?;
    Some(Probe { path, is_head })
}

/// Writes a response and ends the connection; `None` when the client has left.
async fn send(tcp: &mut TcpStream, response: Response, is_head: bool) -> Option<()> {
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await.ok()?.to_bytes();
    let mut text = format!("HTTP/1.1 {}\r\n", parts.status).into_bytes();
    for (name, value) in parts.headers.iter().filter(|(name, _)| *name != axum::http::header::CONTENT_LENGTH) {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()).as_bytes());
    if !is_head {
        text.extend_from_slice(&body);
    }
    tcp.write_all(&text).await.ok()?;
    tcp.shutdown().await.ok()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn only_requests_for_health_are_probes() {
        let parse = |line: &str| parse(format!("{line}\r\nhost: x\r\n\r\n").as_bytes());
        let live = |is_head| Some(Probe { path: "/health/live", is_head });
        assert_eq!(parse("GET /health/live HTTP/1.1"), live(false));
        assert_eq!(parse("HEAD /health/live/?x HTTP/1.0"), live(true));
        for line in [
            "GET /health HTTP/1.1",
            "GET /health/live/x HTTP/1.1",
            "GET //health/live HTTP/1.1",
            "POST /health/live HTTP/1.1",
            "GET /health/live",
            "GET /health/live HTTP/1.1 x",
            "GET /health/live HTTP/2",
            "",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn the_client_with_most_connections_loses_its_oldest() {
        let reserve = ProbeReserve::default();
        let admit = |from: &str| reserve.admit(Peer(from.parse().unwrap()));
        let mut probe = admit("10.0.0.1");
        let mut crowd: Vec<_> = (1..CONNECTIONS_MAX).map(|_| admit("10.0.0.2")).collect();
        let is_evicted = |permit: &mut ProbePermit| (&mut permit.evicted).now_or_never().is_some();
        crowd.push(admit("10.0.0.2"));
        assert!(is_evicted(&mut crowd[0]) && !is_evicted(&mut crowd[1]) && !is_evicted(&mut probe));
        assert_eq!(reserve.0.lock().waiting.len(), CONNECTIONS_MAX);
        drop((crowd, probe));
        assert!(reserve.0.lock().waiting.is_empty());
    }
}
