//! A server of a database, as its operator sees it.

use std::time::Duration;

use crate::kit::clock::Timestamp;
use crate::kit::ids::BootId;

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeDescription {
    /// The name of its machine.
    pub name: String,
    /// The address that it listens on.
    pub address: String,
    /// The release of the program.
    pub version: String,
}

/// A server, and what it has in progress.
#[derive(Clone, Debug)]
pub struct Node {
    /// The id of its start.
    pub boot: BootId,
    pub description: NodeDescription,
    pub started_at: Timestamp,
    /// Time since its last heartbeat.
    pub seen: Duration,
    /// Whether the heartbeat is recent. That of a server which does not share its database is of its start.
    pub is_recent: bool,
    /// Tools that it publishes.
    pub leases: u64,
    pub builds: u64,
    pub runs: u64,
}
