//! The order in which connections are evicted.

use std::cmp::Reverse;

use tokio::time::Instant;

use super::state::State;
use crate::server::stalled_share::STALLED_WITH_WHOLE_TIME_MAX;

/// Connections of one client.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) connections: usize,
    pub(super) stalled: usize,
}

/// The connection with the greatest rank is evicted first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: Class,
    /// Stalled connections of the client; for an idle connection all connections of the client.
    of_client: usize,
    since: Reverse<Instant>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    OneOfFewStalled,
    Idle,
    OneOfManyStalled,
}

impl Tally {
    pub(super) fn add(&mut self, connection: &State) {
        self.connections += 1;
        self.stalled += usize::from(connection.stalled_since().is_some());
    }

    /// Stalled connections that share the time of a crowded address; 0 while more than a quarter of its `connections_max`
    /// is free, since no other client lacks a connection then. Two addresses that fill a server are crowded.
    pub(super) const fn sharing(self, connections_max: usize) -> usize {
        let is_crowded = self.connections.saturating_mul(4) >= connections_max.saturating_mul(3);
        if is_crowded { self.stalled } else { 0 }
    }
}

impl Rank {
    /// Returns the rank of a connection among those of its client; `None` while the server does not wait for its client.
    pub(super) fn of(state: &State, client: Tally) -> Option<Self> {
        if let Some(since) = state.stalled_since() {
            let are_few = client.stalled <= STALLED_WITH_WHOLE_TIME_MAX;
            let class = if are_few { Class::OneOfFewStalled } else { Class::OneOfManyStalled };
            return Some(Self { class, of_client: client.stalled, since: Reverse(since) });
        }
        let since = Reverse(state.idle_since()?);
        Some(Self { class: Class::Idle, of_client: client.connections, since })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_few_connections_gives_each_the_whole_time() {
        let stalled = |connections| Tally { connections, stalled: 100 }.sharing(400);
        assert_eq!([stalled(299), stalled(300)], [0, 100]);
    }
}
