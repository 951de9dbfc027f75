//! Who has a connection: at most so many in total, and so many per address.
//!
//! A connection that waits for a request costs its client nothing, so a full house is no reason to turn a new client
//! away: the connection that has waited longest makes room. Only when all of them are being answered, the new one is
//! refused. So a thousand idle sockets stop nobody, from whichever address they come.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::timer::Timer;

/// Instead of the count at which a seat began to wait.
const BUSY: u64 = 0;
const SENDING: u64 = u64::MAX - 1;
const EVICTED: u64 = u64::MAX;

/// Neighbours in one network of this many bits are one client.
const IPV6_NETWORK_BITS: u32 = 64;

/// All seats of a listener.
pub(super) struct Seats {
    total_max: usize,
    per_address_max: usize,
    /// Orders the moments at which seats begin to wait.
    moments: Arc<AtomicU64>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    seats: BTreeMap<u64, Arc<Seat>>,
    per_address: HashMap<IpAddr, usize>,
}

/// What is known of one connection.
pub(super) struct Seat {
    address: IpAddr,
    moments: Arc<AtomicU64>,
    /// When it began to wait for a request; [`BUSY`] while one is answered, [`SENDING`] while the end of an answer is on
    /// its way.
    waiting_since: AtomicU64,
    /// The client has not sent all of a body yet.
    owes_body: AtomicBool,
    evicted: Notify,
    /// Of the last body, for the next one.
    timer: Mutex<Option<Timer>>,
    /// An answer has ended, and nobody has flushed since.
    owes_flush: AtomicBool,
}

/// A taken seat, given back when dropped.
pub(super) struct Seated {
    seats: Arc<Seats>,
    number: u64,
    seat: Arc<Seat>,
}

impl Seats {
    pub(super) fn new(total_max: usize, per_address_max: usize) -> Arc<Self> {
        let (moments, table) = (Arc::new(AtomicU64::new(BUSY + 1)), Mutex::default());
        Arc::new(Self { total_max, per_address_max, moments, table })
    }

    /// Seats a new connection, which waits for its first request; nothing when everybody at the table is busy.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Seated> {
        let address = network(address);
        let mut table = self.table();
        let neighbours = table.per_address.get(&address).copied().unwrap_or_default();
        if neighbours >= self.per_address_max && !table.evict(|seat| seat.address == address) {
            return None;
        }
        if table.seats.len() >= self.total_max && !table.evict(|_| true) {
            return None;
        }
        let (number, seat) = table.add(Seat::new(address, &self.moments));
        Some(Seated { seats: Arc::clone(self), number, seat })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic while the lock was held cannot have left the table half written.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn add(&mut self, seat: Seat) -> (u64, Arc<Seat>) {
        let (number, seat) = (self.next, Arc::new(seat));
        self.next += 1;
        *self.per_address.entry(seat.address).or_default() += 1;
        self.seats.insert(number, Arc::clone(&seat));
        (number, seat)
    }

    fn remove(&mut self, number: u64) {
        let Some(seat) = self.seats.remove(&number) else { return };
        let Some(count) = self.per_address.get_mut(&seat.address) else { return };
        *count -= 1;
        if *count == 0 {
            self.per_address.remove(&seat.address);
        }
    }

    /// Takes the seat of the connection that has waited longest among some; false when none of them waits.
    fn evict(&mut self, among: impl Fn(&Seat) -> bool) -> bool {
        loop {
            let waiting = self.seats.iter().filter(|(_, seat)| among(seat));
            let waiting = waiting.filter_map(|(number, seat)| Some((seat.waiting_since()?, *number)));
            let Some((since, number)) = waiting.min() else { return false };
            // One that got its request in the meantime keeps its seat.
            if self.seats.get(&number).is_some_and(|seat| seat.evict(since)) {
                self.remove(number);
                return true;
            }
        }
    }
}

impl Seat {
    fn new(address: IpAddr, moments: &Arc<AtomicU64>) -> Self {
        let waiting_since = AtomicU64::new(moments.fetch_add(1, Ordering::Relaxed));
        Self {
            address,
            moments: Arc::clone(moments),
            waiting_since,
            owes_body: AtomicBool::new(false),
            evicted: Notify::new(),
            timer: Mutex::default(),
            owes_flush: AtomicBool::new(false),
        }
    }

    /// A number that differs between two times of waiting; nothing while a request is answered, up to the last byte.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        let since = self.waiting_since.load(Ordering::Acquire);
        (since != BUSY && since != SENDING && since != EVICTED).then_some(since)
    }

    /// A request is complete and will be answered.
    pub(super) fn begin(&self) {
        self.change(BUSY);
    }

    /// All of the answer is made. The client may need long to take what is left of it.
    pub(super) fn end(&self) {
        self.change(SENDING);
        self.owes_flush.store(true, Ordering::Relaxed);
    }

    /// Nothing is left to be sent: after the end of an answer the next request is waited for.
    pub(super) fn flushed(&self) {
        self.owes_flush.store(false, Ordering::Relaxed);
        if self.waiting_since.load(Ordering::Acquire) == SENDING {
            self.change(self.moments.fetch_add(1, Ordering::Relaxed));
        }
    }

    /// Says once after an answer that it has ended and that the connection has to flush, also when nothing is left to be sent.
    pub(super) fn take_owed_flush(&self) -> bool {
        self.owes_flush.swap(false, Ordering::Relaxed)
    }

    fn change(&self, to: u64) {
        let changed =
            self.waiting_since.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| (now != EVICTED).then_some(to));
        // An evicted connection is at its end, whatever it wants.
        changed.unwrap_or_default();
    }

    fn evict(&self, since: u64) -> bool {
        let taken = self.waiting_since.compare_exchange(since, EVICTED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if taken {
            self.evicted.notify_one();
        }
        taken
    }

    /// Completes when somebody else needs the seat.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    pub(super) fn set_owes_body(&self, owes: bool) {
        self.owes_body.store(owes, Ordering::Release);
    }

    pub(super) fn take_timer(&self) -> Timer {
        self.timer().take().unwrap_or_default()
    }

    pub(super) fn keep_timer(&self, timer: Timer) {
        *self.timer() = Some(timer);
    }

    fn timer(&self) -> MutexGuard<'_, Option<Timer>> {
        self.timer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn owes_body(&self) -> bool {
        self.owes_body.load(Ordering::Acquire)
    }
}

impl Seated {
    pub(super) fn seat(&self) -> &Arc<Seat> {
        &self.seat
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.seats.table().remove(self.number);
    }
}

/// The part of an address that stands for one client.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() >> IPV6_NETWORK_BITS << IPV6_NETWORK_BITS;
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn is_evicted(seated: &Seated) -> bool {
        seated.seat().evicted().now_or_never().is_some()
    }

    fn answered(seated: &Seated) {
        seated.seat().end();
        seated.seat().flushed();
    }

    #[test]
    fn the_connection_that_has_waited_longest_makes_room() {
        let seats = Seats::new(2, 2);
        let first = seats.take(address("10.0.0.1")).unwrap();
        let second = seats.take(address("10.0.0.2")).unwrap();
        first.seat().begin();
        answered(&first);
        let _third = seats.take(address("10.0.0.3")).unwrap();
        assert!(is_evicted(&second) && !is_evicted(&first));
        // What it does at its end takes nobody's seat.
        second.seat().begin();
        drop(second);
        assert_eq!(seats.table().seats.len(), 2);
    }

    #[test]
    fn who_is_answered_keeps_the_seat() {
        let seats = Seats::new(1, 1);
        let only = seats.take(address("10.0.0.1")).unwrap();
        only.seat().begin();
        assert!(seats.take(address("10.0.0.2")).is_none());
        only.seat().flushed();
        only.seat().end();
        assert!(seats.take(address("10.0.0.2")).is_none(), "the answer is not sent yet");
        only.seat().flushed();
        assert!(seats.take(address("10.0.0.2")).is_some());
        assert!(is_evicted(&only));
    }

    #[test]
    fn after_each_answer_somebody_has_to_flush() {
        let seats = Seats::new(1, 1);
        let only = seats.take(address("10.0.0.1")).unwrap();
        assert!(!only.seat().take_owed_flush(), "nothing was answered");
        only.seat().begin();
        only.seat().end();
        assert_eq!([only.seat().take_owed_flush(), only.seat().take_owed_flush()], [true, false], "it is said once");
        only.seat().begin();
        answered(&only);
        assert!(!only.seat().take_owed_flush() && only.seat().waiting_since().is_some());
    }

    #[test]
    fn an_address_has_a_bound_of_its_own() {
        let seats = Seats::new(10, 1);
        let first = seats.take(address("2001:db8::1")).unwrap();
        first.seat().begin();
        assert!(seats.take(address("2001:db8::2")).is_none(), "a neighbour is the same client");
        assert!(seats.take(address("2001:db8:0:1::1")).is_some());
        assert!(seats.take(address("::ffff:10.0.0.1")).is_some());
        drop(first);
        assert!(seats.take(address("2001:db8::2")).is_some());
    }
}
