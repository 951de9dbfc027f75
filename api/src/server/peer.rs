//! The address at the other end of a connection.

use std::net::IpAddr;

/// An extension of each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);
