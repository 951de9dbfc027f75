//! The HTTP server: hyper's HTTP/1 connections with bounds, and an orderly end.
//!
//! `axum::serve` and hyper-util's `auto` server have no timeouts for bodies and responses, and no limit of connections, so
//! that one slow client could hold everything. Here a connection has a permit and timeouts ([`limiter`]), a socket that
//! reports to the limiter and refuses ambiguous heads ([`socket`], [`heads`]), and bodies with timeouts ([`body`]).
//! [`limits`] has the numbers. hyper-util's `GracefulShutdown` does not return the socket, which is needed here after
//! the last response: a refusal is written to it, and a body that is refused while it arrives is read for a moment. It also
//! closes connections on which a request may be on its way.

mod accept;
mod body;
mod connection;
mod early_refusal;
mod handshakes;
mod heads;
mod limiter;
mod limits;
mod listener;
mod metrics_listener;
mod peer;
mod probes;
mod service;
mod socket;
mod stalled_share;
mod stream_owner;
mod trusted_proxies;

pub use body::BodyError;
pub use connection::ListenerContext;
pub use limits::{BodyLimits, ConnectionLimits};
pub use listener::{ListenError, Server};
pub use peer::{Peer, find_client};
pub use stream_owner::StreamOwner;
pub use trusted_proxies::TrustedProxies;
