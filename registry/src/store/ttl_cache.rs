//! A cache of values read from the database, with a short time to live.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Age at which a value is read again. A change by another process is seen after at most this time.
const TTL: Duration = Duration::from_secs(1);

/// Values by key. A change by this process clears the cache.
pub(super) struct TtlCache<K, V> {
    state: Mutex<State<K, V>>,
    /// Bound on the entries. A full cache drops the expired entries, or all when none has expired.
    entries_max: usize,
}

struct State<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Number of times that the cache was cleared.
    generation: u64,
}

struct Entry<V> {
    value: V,
    since: Instant,
}

/// The state of the cache before a read of the database. The age of the value counts from then, and the value is not
/// cached when the cache was cleared during the read.
pub(super) struct ReadStart {
    generation: u64,
    since: Instant,
}

impl<K: Eq + Hash, V: Clone> TtlCache<K, V> {
    pub fn new(entries_max: usize) -> Self {
        Self { state: Mutex::new(State { entries: HashMap::new(), generation: 0 }), entries_max }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let state = self.state.lock();
        let entry = state.entries.get(key).filter(|entry| entry.since.elapsed() < TTL);
        entry.map(|entry| entry.value.clone())
    }

    pub fn read_start(&self) -> ReadStart {
        #[expect(clippy::disallowed_methods, reason = "an age in memory, independent of the wall clock")]
        let since = Instant::now();
        ReadStart { generation: self.state.lock().generation, since }
    }

    pub fn insert(&self, read_start: &ReadStart, key: K, value: V) {
        let mut state = self.state.lock();
        if state.generation != read_start.generation {
            return;
        }
        if state.entries.len() >= self.entries_max {
            state.entries.retain(|_, entry| entry.since.elapsed() < TTL);
        }
        if state.entries.len() >= self.entries_max {
            state.entries.clear();
        }
        state.entries.insert(key, Entry { value, since: read_start.since });
    }

    /// Drops the values that a change concerns, as [`TtlCache::clear`] drops all of them.
    pub fn drop_where(&self, concerns: impl Fn(&K, &V) -> bool) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.entries.retain(|key, entry| !concerns(key, &entry.value));
    }

    /// Clears the cache. Callers do this after a change and before they report it.
    pub fn clear(&self) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::TtlCache;

    #[test]
    fn the_number_of_entries_is_bounded() {
        let cache = TtlCache::new(8);
        for number in 0..100 {
            cache.insert(&cache.read_start(), number, number);
            assert_eq!(cache.get(&number), Some(number));
            assert!(cache.state.lock().entries.len() <= 8);
        }
    }

    #[test]
    fn a_change_drops_the_values_that_it_concerns() {
        let cache = TtlCache::new(8);
        let early = cache.read_start();
        for number in 1..=4 {
            cache.insert(&cache.read_start(), number, number);
        }
        cache.drop_where(|key, value| key == value && key % 2 == 0);
        assert_eq!((1..=4).map(|key| cache.get(&key)).collect::<Vec<_>>(), [Some(1), None, Some(3), None]);
        // It may have been read before the change.
        cache.insert(&early, 2, 2);
        assert_eq!(cache.get(&2), None);
    }

    #[test]
    fn a_value_read_before_a_change_is_not_cached() {
        let cache = TtlCache::new(8);
        let early = cache.read_start();
        cache.insert(&cache.read_start(), 1, 'a');
        assert_eq!(cache.get(&1), Some('a'));
        cache.clear();
        assert_eq!(cache.get(&1), None);
        cache.insert(&early, 1, 'a');
        assert_eq!(cache.get(&1), None);
        cache.insert(&cache.read_start(), 1, 'b');
        assert_eq!(cache.get(&1), Some('b'));
    }
}
