//! The cache of everything that the server keeps in memory to be faster: values by key, with a bound on their bytes.
//!
//! `quick_cache` chooses the entries that leave, so that a caller with many values that nobody asks for twice does not evict
//! those that all use. This wrapper adds the age of entries, and the order of reads and changes.

mod heap_bytes;

use std::hash::{Hash, RandomState};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::unsync::Cache;
use quick_cache::{Lifecycle, Weighter};

pub(crate) use heap_bytes::heap_bytes;
pub use heap_bytes::{HeapBytes, allocated};

/// The name and the bound of a cache, as [caches.md](../../../docs/explanation/caches.md) lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheBound {
    pub name: &'static str,
    pub bytes_max: usize,
}

/// Bytes of an entry besides its key and its value: its place in the tables, and its age.
const ENTRY_BYTES: usize = 96;
/// Bytes of most entries. The table of keys that left of late has one for each so many bytes of the bound.
const USUAL_BYTES: usize = 4 << 10;
/// Keys that left of late, of the smallest and of the largest cache.
const USUAL_COUNT: (usize, usize) = (16, 16_384);

/// Values by key. The entries of a cache never have more bytes than its bound; a value that is larger is not kept.
#[derive(Debug)]
pub struct ByteCache<K, V> {
    state: Mutex<CacheState<K, V>>,
    /// Age at which an entry is dropped; `None` for values that stay right.
    ttl: Option<Duration>,
}

#[derive(Debug)]
struct CacheState<K, V> {
    entries: Cache<K, CacheEntry<V>, EntryBytes, RandomState, Evicted>,
    /// Number of times that the cache was cleared.
    generation: u64,
    /// The time of the last search for entries that have expired.
    swept_at: Instant,
}

#[derive(Debug)]
struct CacheEntry<V> {
    value: V,
    bytes: usize,
    since: Instant,
}

/// The state of a cache before a read of the database. The age of the value counts from then, and the value is not
/// cached when the cache was cleared during the read.
#[derive(Clone, Copy, Debug)]
pub struct ReadStart {
    generation: u64,
    since: Instant,
}

impl<K: Eq + Hash + HeapBytes, V: Clone + HeapBytes> ByteCache<K, V> {
    pub fn new(bound: CacheBound) -> Self {
        let bytes_max = bound.bytes_max;
        let count = (bytes_max / USUAL_BYTES).clamp(USUAL_COUNT.0, USUAL_COUNT.1);
        let entries = Cache::with(count, bytes_max as u64, EntryBytes, RandomState::new(), Evicted);
        Self { state: Mutex::new(CacheState { entries, generation: 0, swept_at: now() }), ttl: None }
    }

    /// Drops entries at this age.
    #[must_use]
    pub fn with_ttl(self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let mut state = self.state.lock();
        let entry = state.entries.get(key)?;
        if !self.has_expired(entry) {
            return Some(entry.value.clone());
        }
        let expired = state.entries.remove(key);
        // Values of megabytes are dropped when others can use the cache again.
        drop((state, expired));
        None
    }

    pub fn read_start(&self) -> ReadStart {
        ReadStart { generation: self.state.lock().generation, since: now() }
    }

    /// Adds a value that was read from the database, or replaces it.
    pub fn insert_read(&self, read_start: &ReadStart, key: K, value: V) {
        self.add(Some(read_start.generation), key, value, read_start.since);
    }

    /// Adds a value, or replaces it.
    pub fn insert(&self, key: K, value: V) {
        self.add(None, key, value, now());
    }

    fn add(&self, generation: Option<u64>, key: K, value: V, since: Instant) {
        let bytes = ENTRY_BYTES + 2 * (size_of::<K>() + size_of::<V>()) + key.heap_bytes() + value.heap_bytes();
        let mut evicted = Vec::new();
        let mut state = self.state.lock();
        if generation.is_some_and(|generation| generation != state.generation) {
            return;
        }
        if self.ttl.is_some_and(|ttl| state.swept_at.elapsed() >= ttl) {
            self.sweep(&mut state);
        }
        state.entries.insert_with_lifecycle(key, CacheEntry { value, bytes, since }, &mut evicted);
        drop(state);
        drop(evicted);
    }

    pub fn remove(&self, key: &K) {
        let removed = self.state.lock().entries.remove(key);
        drop(removed);
    }

    /// Drops the entries that a change concerns, as [`ByteCache::clear`] drops all of them.
    pub fn drop_where(&self, concerns: impl Fn(&K, &V) -> bool) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.entries.retain(|key, entry| !concerns(key, &entry.value));
    }

    /// Drops all entries. Callers do this after a change and before they report it.
    pub fn clear(&self) {
        let mut state = self.state.lock();
        state.generation += 1;
        let dropped: Vec<_> = state.entries.drain().collect();
        drop(state);
        drop(dropped);
    }

    /// Drops the entries that have expired.
    pub fn drop_expired(&self) {
        self.sweep(&mut self.state.lock());
    }

    /// Bytes of all entries.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.state.lock().entries.weight()).unwrap_or(usize::MAX)
    }

    pub fn count(&self) -> usize {
        self.state.lock().entries.len()
    }

    fn sweep(&self, state: &mut CacheState<K, V>) {
        state.swept_at = now();
        state.entries.retain(|_, entry| !self.has_expired(entry));
    }

    fn has_expired(&self, entry: &CacheEntry<V>) -> bool {
        self.ttl.is_some_and(|ttl| entry.since.elapsed() >= ttl)
    }
}

#[expect(clippy::disallowed_methods, reason = "an age in memory, independent of the wall clock")]
fn now() -> Instant {
    Instant::now()
}

#[derive(Debug)]
struct EntryBytes;

impl<K, V> Weighter<K, CacheEntry<V>> for EntryBytes {
    fn weight(&self, _key: &K, entry: &CacheEntry<V>) -> u64 {
        entry.bytes as u64
    }
}

/// Collects the entries that leave, which are dropped after the cache is unlocked.
#[derive(Debug)]
struct Evicted;

impl<K, V> Lifecycle<K, CacheEntry<V>> for Evicted {
    type RequestState = Vec<(K, CacheEntry<V>)>;

    fn on_evict(&self, evicted: &mut Self::RequestState, key: K, entry: CacheEntry<V>) {
        evicted.push((key, entry));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUND: CacheBound = CacheBound { name: "test", bytes_max: 64 << 10 };

    #[test]
    fn the_bytes_are_bounded_whatever_is_inserted() {
        proptest!(|(steps in proptest::collection::vec((0..50_u64, 0..40_000_usize, any::<bool>()), 1..200))| {
            let cache = ByteCache::<u64, String>::new(BOUND);
            for (key, bytes, is_read) in steps {
                match is_read {
                    true => drop(cache.get(&key)),
                    false => cache.insert(key, "x".repeat(bytes)),
                }
                prop_assert!(cache.bytes() <= BOUND.bytes_max);
                let state = cache.state.lock();
                let sum: usize = state.entries.iter().map(|(_, entry)| entry.bytes).sum();
                prop_assert_eq!(sum as u64, state.entries.weight());
            }
        });
    }

    #[test]
    fn a_value_beyond_the_bound_is_not_kept() {
        let cache = ByteCache::<u64, String>::new(BOUND);
        cache.insert(1, "small".to_owned());
        cache.insert(1, "x".repeat(BOUND.bytes_max));
        assert_eq!((cache.get(&1), cache.bytes()), (None, 0));
    }

    #[test]
    fn values_that_are_used_stay_when_many_others_come_once() {
        let cache = ByteCache::<u64, String>::new(BOUND);
        cache.insert(0, "used".to_owned());
        for key in 1..10_000 {
            cache.insert(key, "once".to_owned());
            assert!(cache.get(&0).is_some(), "after {key} others");
        }
    }

    #[test]
    fn expired_entries_are_dropped() {
        let cache = ByteCache::<u64, String>::new(BOUND).with_ttl(Duration::ZERO);
        cache.insert(1, "a".to_owned());
        cache.insert(2, "b".to_owned());
        assert_eq!(cache.count(), 1, "the next insertion drops what has expired");
        assert_eq!((cache.get(&2), cache.count()), (None, 0), "a look drops what has expired");
        cache.insert(3, "c".to_owned());
        cache.drop_expired();
        assert_eq!((cache.count(), cache.bytes()), (0, 0));
        let lasting = ByteCache::<u64, String>::new(BOUND).with_ttl(Duration::from_mins(60));
        lasting.insert(1, "a".to_owned());
        lasting.drop_expired();
        assert_eq!(lasting.get(&1).as_deref(), Some("a"));
    }

    #[test]
    fn a_change_drops_the_values_that_it_concerns() {
        let cache = ByteCache::<u64, u64>::new(BOUND);
        let early = cache.read_start();
        for number in 1..=4 {
            cache.insert_read(&cache.read_start(), number, number);
        }
        cache.drop_where(|key, value| key == value && key % 2 == 0);
        assert_eq!((1..=4).map(|key| cache.get(&key)).collect::<Vec<_>>(), [Some(1), None, Some(3), None]);
        // It may have been read before the change.
        cache.insert_read(&early, 2, 2);
        assert_eq!(cache.get(&2), None);
    }

    #[test]
    fn a_value_read_before_a_change_is_not_cached() {
        let cache = ByteCache::<u64, u64>::new(BOUND);
        let early = cache.read_start();
        cache.insert_read(&cache.read_start(), 1, 10);
        assert_eq!(cache.get(&1), Some(10));
        cache.clear();
        assert_eq!((cache.get(&1), cache.bytes()), (None, 0));
        cache.insert_read(&early, 1, 10);
        assert_eq!(cache.get(&1), None);
        cache.insert_read(&cache.read_start(), 1, 11);
        assert_eq!(cache.get(&1), Some(11));
        cache.remove(&1);
        assert_eq!((cache.get(&1), cache.bytes()), (None, 0));
    }
}
