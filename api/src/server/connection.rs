//! One connection, from its first byte to its last.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use futures_util::future::poll_fn;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::limits::ConnectionLimits;
use super::raw;
use super::requests::Requests;
use super::seats::{Seat, Seated};
use super::seldom::seldom;
use super::socket::{Slow, Socket};
use crate::error::Error;
use crate::metrics;
use crate::request_id::RequestIds;

/// Request line and headers, also what hyper reads ahead. [`crate::head`] refuses less, and in words.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// A client that sends a body nobody wants gets so much time, and may send so much, before the socket is closed: the
/// close would destroy the answer on its way.
const LINGER_TIME_MAX: Duration = Duration::from_secs(2);
const LINGER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One read of what is thrown away.
const LINGER_BUFFER_BYTES: usize = 16 * 1024;

/// What the kernel may hold beyond the bytes on their way. With its own megabytes a slow client that reads without pause
/// would make room so rarely that it looked silent.
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// What all connections of a listener share.
pub(super) struct Hosting {
    pub(super) router: Router,
    pub(super) limits: ConnectionLimits,
    pub(super) ids: RequestIds,
}

/// Who has connected.
pub(super) struct Client {
    pub(super) tcp: TcpStream,
    pub(super) address: IpAddr,
}

type Connection = http1::Connection<TokioIo<Socket>, Requests>;

/// Serves until the client, a bound, or the end of the server ends it.
pub(super) async fn serve(hosting: Arc<Hosting>, client: Client, seated: Seated, stopping: watch::Receiver<bool>) {
    let _counted = metrics::Connection::begin();
    if let Err(error) = tune(&client.tcp) {
        tracing::debug!(%error, "an option of the socket was refused");
    }
    let seat = seated.seat();
    let connection = connection(&hosting, client, seat);
    tokio::select! {
        biased;
        () = converse(&hosting, connection, stopping, seat) => {}
        () = seldom(seat.evicted()) => metrics::connection_cut("evicted"),
    }
}

fn tune(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    SockRef::from(tcp).set_tcp_notsent_lowat(UNSENT_BYTES_MAX)
}

fn connection(hosting: &Hosting, client: Client, seat: &Arc<Seat>) -> Connection {
    let socket = Socket::new(client.tcp, Arc::clone(seat), &hosting.limits);
    let requests = Requests::new(hosting.router.clone(), client.address, Arc::clone(seat), &hosting.limits);
    http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(socket), requests)
}

async fn converse(hosting: &Hosting, mut connection: Connection, mut stopping: watch::Receiver<bool>, seat: &Seat) {
    let mut stops = seldom(async move { drop(stopping.wait_for(|stopping| *stopping).await) });
    let mut is_told = false;
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = poll_fn(|context| poll(&mut connection, seat, context)) => break outcome,
            () = &mut stops, if !is_told => {
                is_told = true;
                close_when_idle(&mut connection);
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "connection ended early");
    }
    part(hosting, connection.into_parts().io.into_inner(), seat).await;
}

fn poll(connection: &mut Connection, seat: &Seat, context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
    let polled = connection.poll_without_shutdown(context);
    if polled.is_pending() && seat.take_owed_flush() {
        context.waker().wake_by_ref();
    }
    polled
}

fn close_when_idle(connection: &mut Connection) {
    Pin::new(connection).graceful_shutdown();
}

/// Says what was wrong, if that is still possible, and closes so that the client can read it.
async fn part(hosting: &Hosting, socket: Socket, seat: &Seat) {
    let (slow, refused) = (socket.slow(), socket.refused());
    let mut tcp = socket.into_tcp();
    match slow {
        Some(Slow::Headers) => {
            metrics::connection_cut("slow_headers");
            raw::refuse(&mut tcp, &hosting.ids.next(), Error::HeadersTooSlow).await;
        }
        Some(Slow::Answer) => metrics::connection_cut("slow_answer"),
        Some(Slow::Idle) | None => {}
    }
    if let Some(status) = refused {
        raw::refuse(&mut tcp, &hosting.ids.next(), Error::no_request(status)).await;
    }
    let is_sending = seat.owes_body() || refused.is_some() || slow == Some(Slow::Headers);
    if is_sending && slow != Some(Slow::Answer) && tcp.shutdown().await.is_ok() {
        // In whichever way it ends: it was a courtesy.
        timeout(LINGER_TIME_MAX, swallow(&mut tcp)).await.unwrap_or_default();
    }
}

async fn swallow(tcp: &mut TcpStream) {
    let mut buffer = vec![0; LINGER_BUFFER_BYTES];
    let mut bytes_sum = 0;
    while let Ok(bytes @ 1..) = tcp.read(&mut buffer).await {
        bytes_sum += bytes;
        if bytes_sum > LINGER_BYTES_MAX {
            return;
        }
    }
}
