//! One connection, from its first byte to its last.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures_util::future::poll_fn;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::limits::ConnectionLimits;
use super::raw;
use super::requests::Requests;
use super::seats::{Seat, Seated};
use super::socket::{Slow, Socket};
use crate::error::Error;

/// Request line and headers, also what hyper reads ahead. [`crate::head`] refuses less, and in words.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// A client that sends a body nobody wants gets so much time, and may send so much, before the socket is closed: the
/// close would destroy the answer on its way.
const LINGER_TIME_MAX: Duration = Duration::from_secs(2);
const LINGER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One read of what is thrown away.
const LINGER_BUFFER_BYTES: usize = 16 * 1024;

/// What all connections of a listener share.
pub(super) struct Hosting {
    pub(super) router: Router,
    pub(super) limits: ConnectionLimits,
}

type Connection = http1::Connection<TokioIo<Socket>, Requests>;

/// Serves until the client, a bound, or the end of the server ends it.
pub(super) async fn serve(hosting: Arc<Hosting>, tcp: TcpStream, seated: Seated, stopping: watch::Receiver<bool>) {
    if let Err(error) = tcp.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY refused");
    }
    let seat = seated.seat();
    let connection = connection(&hosting, tcp, seat);
    tokio::select! {
        () = converse(connection, stopping, seat) => {}
        () = seat.evicted() => tracing::debug!("an idle connection made room for a new one"),
    }
}

fn connection(hosting: &Hosting, tcp: TcpStream, seat: &Arc<Seat>) -> Connection {
    let socket = Socket::new(tcp, Arc::clone(seat), &hosting.limits);
    let requests = Requests::new(hosting.router.clone(), Arc::clone(seat), &hosting.limits);
    http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(socket), requests)
}

async fn converse(mut connection: Connection, mut stopping: watch::Receiver<bool>, seat: &Seat) {
    let mut is_told = false;
    let outcome = loop {
        tokio::select! {
            outcome = poll_fn(|context| connection.poll_without_shutdown(context)) => break outcome,
            _ = stopping.wait_for(|stopping| *stopping), if !is_told => {
                is_told = true;
                close_when_idle(&mut connection);
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "connection ended early");
    }
    part(connection.into_parts().io.into_inner(), seat).await;
}

fn close_when_idle(connection: &mut Connection) {
    Pin::new(connection).graceful_shutdown();
}

/// Says what was wrong, if that is still possible, and closes so that the client can read it.
async fn part(socket: Socket, seat: &Seat) {
    let slow = socket.slow();
    let mut tcp = socket.into_tcp();
    if slow == Some(Slow::Headers) {
        raw::refuse(&mut tcp, Error::HeadersTooSlow).await;
    }
    let is_sending = seat.owes_body() || slow == Some(Slow::Headers);
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
