//! The order in which connections are evicted.

use std::cmp::Reverse;
use std::time::Duration;

use tokio::time::Instant;

use super::state::ConnectionState;
use crate::server::stalled_share::STALLED_WITH_WHOLE_TIME_MAX;

/// Time after which a stalled connection is evicted before idle ones, whatever its client has besides. Clients on slow lines
/// read or send something more often.
const STALLED_BEFORE_IDLE: Duration = Duration::from_secs(5);

/// Connections of one client.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) connections: usize,
    pub(super) stalled: usize,
}

/// What the rank of a connection depends on besides its state.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    /// The connections of its client.
    pub(super) client: Tally,
    /// The listening streams of the owner of its stream, whatever their clients.
    pub(super) streams_of_owner: usize,
}

/// The connection with the greatest rank is evicted first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: Class,
    /// Stalled connections of the client; for an idle connection all connections of the client, and for a listening stream the
    /// streams of its owner.
    of_client: usize,
    since: Reverse<Instant>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// For less than [`STALLED_BEFORE_IDLE`], one of few of its client.
    NewlyStalled,
    /// A stream that waits for changes, which its client can begin again.
    Listening,
    Idle,
    Stalled,
}

impl Tally {
    pub(super) fn with(self, connection: &ConnectionState) -> Self {
        let stalled = self.stalled + usize::from(connection.stalled_since().is_some());
        Self { connections: self.connections + 1, stalled }
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
    pub(super) fn of(state: &ConnectionState, around: Surroundings, now: Instant) -> Option<Self> {
        let Surroundings { client, streams_of_owner } = around;
        let Some(since) = state.stalled_since() else {
            if let Some((_, since)) = state.listening() {
                return Some(Self { class: Class::Listening, of_client: streams_of_owner, since: Reverse(since) });
            }
            let since = Reverse(state.idle_since()?);
            return Some(Self { class: Class::Idle, of_client: client.connections, since });
        };
        let is_one_of_few = client.stalled <= STALLED_WITH_WHOLE_TIME_MAX;
        let is_new = now.duration_since(since) < STALLED_BEFORE_IDLE;
        let class = if is_one_of_few && is_new { Class::NewlyStalled } else { Class::Stalled };
        Some(Self { class, of_client: client.stalled, since: Reverse(since) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::limiter::state::Event;
    use crate::server::limits::ConnectionLimits;
    use crate::server::stream_owner::StreamOwner;

    /// Also in a server that many addresses fill with few connections each, and within the share of one address.
    #[test]
    fn connections_that_are_stalled_for_long_are_evicted_before_idle_ones() {
        let (start, limits) = (Instant::now(), ConnectionLimits::default());
        let (idle, mut stalled) = (ConnectionState::new(start), ConnectionState::new(start));
        stalled.apply(Event::RequestBegan, start, &limits);
        stalled.apply(Event::BodyAwaited(true), start, &limits);
        let around = Surroundings { client: Tally { connections: 5, stalled: 1 }, streams_of_owner: 9 };
        let rank = |state: &ConnectionState, seconds| Rank::of(state, around, start + Duration::from_secs(seconds));
        assert!(rank(&stalled, 4) < rank(&idle, 4) && rank(&stalled, 5) > rank(&idle, 5));
        let mut listening = ConnectionState::new(start);
        listening.apply(Event::RequestBegan, start, &limits);
        assert!(rank(&listening, 9).is_none(), "a request that is answered");
        listening.apply(Event::Listens(StreamOwner::of(&"acme")), start, &limits);
        assert!(rank(&listening, 9) < rank(&idle, 9) && rank(&listening, 4) > rank(&stalled, 4));
    }

    #[test]
    fn an_address_with_few_connections_gives_each_the_whole_time() {
        let stalled = |connections| Tally { connections, stalled: 100 }.sharing(400);
        assert_eq!([stalled(299), stalled(300)], [0, 100]);
    }
}
