//! What was read from the database a moment ago, so that a call does not pay for reading it again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What another process changed is not seen here for no longer than this.
const FRESH: Duration = Duration::from_secs(1);

/// Values that were read, by what they were asked for. What this process changes is told to it.
pub(super) struct Fresh<K, V> {
    state: Mutex<State<K, V>>,
    /// Beyond it those that are not fresh are dropped, or else all, which costs one read for each.
    entries_max: usize,
}

struct State<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// How often everything was forgotten.
    generation: u64,
}

struct Entry<V> {
    value: V,
    since: Instant,
}

/// Taken before the database is asked, so that an answer counts from then on, and not at all when something changed
/// while it was on its way.
pub(super) struct Ticket {
    generation: u64,
    since: Instant,
}

impl<K: Eq + Hash, V: Clone> Fresh<K, V> {
    pub fn new(entries_max: usize) -> Self {
        Self { state: Mutex::new(State { entries: HashMap::new(), generation: 0 }), entries_max }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let state = self.state();
        let entry = state.entries.get(key).filter(|entry| entry.since.elapsed() < FRESH);
        entry.map(|entry| entry.value.clone())
    }

    pub fn ticket(&self) -> Ticket {
        #[expect(clippy::disallowed_methods, reason = "an age in memory, whatever the clock says")]
        let since = Instant::now();
        Ticket { generation: self.state().generation, since }
    }

    pub fn put(&self, ticket: &Ticket, key: K, value: V) {
        let mut state = self.state();
        if state.generation != ticket.generation {
            return;
        }
        if state.entries.len() >= self.entries_max {
            state.entries.retain(|_, entry| entry.since.elapsed() < FRESH);
        }
        if state.entries.len() >= self.entries_max {
            state.entries.clear();
        }
        state.entries.insert(key, Entry { value, since: ticket.since });
    }

    /// To be called after a change and before anybody is told of it.
    pub fn forget_all(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.entries.clear();
    }

    fn state(&self) -> MutexGuard<'_, State<K, V>> {
        // A panic while the lock was held cannot have left the map half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Fresh;

    #[test]
    fn what_is_beyond_the_bound_makes_room() {
        let cache = Fresh::new(8);
        for number in 0..100 {
            cache.put(&cache.ticket(), number, number);
            assert_eq!(cache.get(&number), Some(number));
            assert!(cache.state().entries.len() <= 8);
        }
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept() {
        let cache = Fresh::new(8);
        let early = cache.ticket();
        cache.put(&cache.ticket(), 1, 'a');
        assert_eq!(cache.get(&1), Some('a'));
        cache.forget_all();
        assert_eq!(cache.get(&1), None);
        cache.put(&early, 1, 'a');
        assert_eq!(cache.get(&1), None);
        cache.put(&cache.ticket(), 1, 'b');
        assert_eq!(cache.get(&1), Some('b'));
    }
}
