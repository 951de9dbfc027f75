//! Connection limiter: a bounded number of connections in total and per client, and a time for each thing that a
//! client must do.
//!
//! A waiting connection costs its client nothing, so a full server evicts a connection for a new one, in this order:
//!
//! 1. a stalled connection of the client with most stalled connections, if they are more than a few or it has been stalled
//!    for some seconds,
//! 2. a connection without a request, of the client with most connections,
//! 3. a stream that waits for changes, of the organisation with most of them,
//! 4. a newly stalled connection of a client with few stalled connections.
//!
//! Within one client the connection that has waited longest is evicted. A new connection is refused only when the server
//! is answering on all others without waiting for a client; probes of its health are answered even then ([`super::probes`]). So neither a thousand idle sockets nor a thousand clients
//! that read nothing keep others out (`tests/operations/lockout.rs`, `api/tests/it/slow.rs`).
//!
//! Every [`SWEEP_INTERVAL`] one task looks for connections whose time is over, so that connections need no timers.
//!
//! No crate keeps these promises: hyper's `header_read_timeout` also counts the idle time between requests and closes
//! without a response, `tower`'s concurrency limit and a semaphore let new connections wait instead of evicting old ones,
//! and `tokio-io-timeout` and tower-http's `TimeoutBody` accept a client that takes or sends one byte now and then.

mod drain;
mod eviction;
mod state;
mod write_timeout;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, interval};

use super::limits::ConnectionLimits;
use super::peer::Peer;
use super::stream_owner::StreamOwner;
use drain::Drain;
use eviction::{Rank, Surroundings, Tally};
pub(super) use state::{ConnectionState, EndReason, Event, Phase};

/// How much later than due a connection may end.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);

/// The connections of one listener.
pub(super) struct Limiter {
    limits: ConnectionLimits,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last_number: u64,
    connections: BTreeMap<u64, Connection>,
    /// The orderly end of the server, once it has begun.
    drain: Option<Drain>,
}

struct Connection {
    client: IpAddr,
    /// Whether it is one of a trusted proxy, which is no client of its own.
    is_proxy: bool,
    state: ConnectionState,
    /// `None` once the connection was told to end.
    end: Option<oneshot::Sender<EndReason>>,
}

/// An admitted connection. Dropping the permit releases it.
pub(super) struct ConnectionPermit {
    pub(super) activity: Activity,
    ended: oneshot::Receiver<EndReason>,
}

/// Handle with which socket, body and service report events of their connection. After an eviction they have no effect.
#[derive(Clone)]
pub(super) struct Activity {
    limiter: Arc<Limiter>,
    number: u64,
}

impl Limiter {
    /// Creates the limiter of a listener and starts its sweeps, which end with the last connection.
    pub(super) fn start(limits: ConnectionLimits) -> Arc<Self> {
        let limiter = Arc::new(Self { limits, table: Mutex::default() });
        tokio::spawn(sweep_regularly(Arc::downgrade(&limiter)));
        limiter
    }

    /// Admits a connection, if necessary in the place of another one.
    pub(super) fn admit(self: &Arc<Self>, peer: Peer) -> Option<ConnectionPermit> {
        let (client, is_proxy) = (peer.client(), self.limits.trusted_proxies.contains(peer.0));
        let mut table = self.table.lock();
        let is_client_full =
            !is_proxy && table.tally_client(client).connections >= self.limits.connections_per_address_max;
        let is_full = table.connections.len() >= self.limits.connections_max;
        if (is_client_full || is_full) && !table.evict(is_client_full.then_some(client)) {
            return None;
        }
        let (end, ended) = oneshot::channel();
        table.last_number += 1;
        let number = table.last_number;
        let state = ConnectionState::new(Instant::now());
        table.connections.insert(number, Connection { client, is_proxy, state, end: Some(end) });
        Some(ConnectionPermit { activity: Activity { limiter: Arc::clone(self), number }, ended })
    }

    /// Begins the end of the server: each connection ends with its next response, or when it was unused for this time.
    pub(super) fn drain(&self, unused_max: Duration) {
        let since = Instant::now();
        self.table.lock().drain = Some(Drain { since, unused_max });
        self.sweep(since);
    }

    /// Ends all connections whose time is over.
    fn sweep(&self, now: Instant) {
        let mut table = self.table.lock();
        let (tallies, drain) = (table.tally_all(), table.drain);
        for connection in table.connections.values_mut() {
            let tally = tallies.get(&connection.client);
            let stalled = tally.map_or(0, |tally| tally.sharing(self.limits.connections_per_address_max));
            let drained = drain.and_then(|drain| drain.find_end_reason(&connection.state, now));
            if let Some(reason) = connection.state.find_end_reason(now, &self.limits, stalled).or(drained) {
                connection.end(reason);
            }
        }
    }
}

async fn sweep_regularly(limiter: Weak<Limiter>) {
    let mut ticks = interval(SWEEP_INTERVAL);
    loop {
        ticks.tick().await;
        let Some(limiter) = limiter.upgrade() else { return };
        limiter.sweep(Instant::now());
    }
}

impl Table {
    /// The connections of each client. Those of a trusted proxy are of as many clients.
    fn tally_all(&self) -> BTreeMap<IpAddr, Tally> {
        let mut tallies = BTreeMap::<_, Tally>::new();
        for connection in self.connections.values().filter(|connection| !connection.is_proxy) {
            let tally = tallies.entry(connection.client).or_default();
            *tally = tally.with(&connection.state);
        }
        tallies
    }

    /// The listening streams of each owner.
    fn count_streams(&self) -> BTreeMap<StreamOwner, usize> {
        let mut streams = BTreeMap::<_, usize>::new();
        for (owner, _) in self.connections.values().filter_map(|connection| connection.state.listening()) {
            *streams.entry(owner).or_default() += 1;
        }
        streams
    }

    fn tally_client(&self, client: IpAddr) -> Tally {
        let of_client =
            self.connections.values().filter(|connection| connection.client == client && !connection.is_proxy);
        of_client.fold(Tally::default(), |tally, connection| tally.with(&connection.state))
    }

    /// Evicts a connection, of `client` if there is one; false when the server waits for none of their clients.
    fn evict(&mut self, client: Option<IpAddr>) -> bool {
        let (tallies, streams, now) = (self.tally_all(), self.count_streams(), Instant::now());
        // A connection that was ended before counts until its permit is dropped, so it can be evicted as well.
        let candidates = self.connections.iter();
        let candidates = candidates.filter(|(_, connection)| client.is_none_or(|client| connection.client == client));
        let ranked = candidates.filter_map(|(number, connection)| {
            let owner = connection.state.listening().map(|(owner, _)| owner);
            let streams_of_owner = owner.and_then(|owner| streams.get(&owner)).copied().unwrap_or_default();
            let client = tallies.get(&connection.client).copied().unwrap_or_default();
            let around = Surroundings { client, streams_of_owner };
            Some((Rank::of(&connection.state, around, now)?, Reverse(*number)))
        });
        let evicted = ranked.max().and_then(|(_, Reverse(number))| self.connections.remove(&number));
        let Some(mut evicted) = evicted else { return false };
        evicted.end(EndReason::Evicted { is_stalled: evicted.state.stalled_since().is_some() });
        true
    }
}

impl Connection {
    fn end(&mut self, reason: EndReason) {
        if let Some(end) = self.end.take() {
            // The connection may have ended by itself at this moment.
            end.send(reason).unwrap_or_default();
        }
    }
}

impl ConnectionPermit {
    /// Completes when the limiter ends the connection.
    pub(super) async fn wait_for_end(&mut self) -> EndReason {
        (&mut self.ended).await.unwrap_or(EndReason::Idle)
    }

    /// Lets a connection go on that was ended as idle at the moment when a request arrived. `false` when there is none.
    pub(super) fn resume(&mut self) -> bool {
        let mut table = self.activity.limiter.table.lock();
        let Some(connection) = table.connections.get_mut(&self.activity.number) else { return false };
        if connection.state.unused_since().is_some() {
            return false;
        }
        let (end, ended) = oneshot::channel();
        (connection.end, self.ended) = (Some(end), ended);
        true
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.activity.limiter.table.lock().connections.remove(&self.activity.number);
    }
}

impl Activity {
    pub(super) fn report(&self, event: Event) {
        let Limiter { limits, table } = &*self.limiter;
        if let Some(connection) = table.lock().connections.get_mut(&self.number) {
            connection.state.apply(event, Instant::now(), limits);
        }
    }

    /// Connections that share the time of a crowded address now; 0 while it is not crowded.
    pub(super) fn sharing(&self) -> usize {
        let Limiter { limits, table } = &*self.limiter;
        let table = table.lock();
        let tally = table.connections.get(&self.number).map(|connection| table.tally_client(connection.client));
        tally.unwrap_or_default().sharing(limits.connections_per_address_max)
    }

    /// Whether the response to the current request is the last one of the connection: the client has yet to send bytes of
    /// its body, or the server is about to end.
    pub(super) fn is_last_response(&self) -> bool {
        let table = self.limiter.table.lock();
        let owes_body = || table.connections.get(&self.number).is_some_and(|connection| connection.state.owes_body);
        table.drain.is_some() || owes_body()
    }

    /// The state of the connection; `None` after an eviction.
    pub(super) fn state(&self) -> Option<ConnectionState> {
        self.limiter.table.lock().connections.get(&self.number).map(|connection| connection.state)
    }
}

#[cfg(test)]
mod tests;
