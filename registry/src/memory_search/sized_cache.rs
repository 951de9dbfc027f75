//! A cache with a bound on the bytes of its values. The value that was used the longest time ago leaves first.

use std::collections::HashMap;
use std::hash::Hash;

use parking_lot::Mutex;

pub(crate) struct SizedCache<K, V> {
    state: Mutex<State<K, V>>,
    bytes_max: usize,
}

struct State<K, V> {
    entries: HashMap<K, Entry<V>>,
    bytes: usize,
    /// Counts the uses.
    uses: u64,
}

struct Entry<V> {
    value: V,
    bytes: usize,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> SizedCache<K, V> {
    pub fn new(bytes_max: usize) -> Self {
        Self { state: Mutex::new(State { entries: HashMap::new(), bytes: 0, uses: 0 }), bytes_max }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let mut state = self.state.lock();
        state.uses += 1;
        let uses = state.uses;
        let entry = state.entries.get_mut(key)?;
        entry.last_use = uses;
        Some(entry.value.clone())
    }

    /// Adds a value, or replaces it. A value above the bound is not kept.
    pub fn insert(&self, key: K, value: V, bytes: usize) {
        let mut state = self.state.lock();
        state.uses += 1;
        let entry = Entry { value, bytes, last_use: state.uses };
        state.bytes += bytes;
        if let Some(before) = state.entries.insert(key, entry) {
            state.bytes -= before.bytes;
        }
        while state.bytes > self.bytes_max {
            let oldest = state.entries.iter().min_by_key(|(_, entry)| entry.last_use).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            state.remove(&oldest);
        }
    }

    pub fn remove(&self, key: &K) {
        self.state.lock().remove(key);
    }
}

impl<K: Eq + Hash, V> State<K, V> {
    fn remove(&mut self, key: &K) {
        if let Some(removed) = self.entries.remove(key) {
            self.bytes -= removed.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_was_used_the_longest_time_ago_leaves_first() {
        let cache = SizedCache::new(10);
        cache.insert(1, 'a', 4);
        cache.insert(2, 'b', 4);
        assert_eq!(cache.get(&1), Some('a'));
        cache.insert(3, 'c', 4);
        assert_eq!([1, 2, 3].map(|key| cache.get(&key)), [Some('a'), None, Some('c')]);
    }

    #[test]
    fn the_bytes_are_bounded() {
        let cache = SizedCache::new(10);
        cache.insert(1, 'a', 4);
        cache.insert(1, 'b', 8);
        assert_eq!((cache.get(&1), cache.state.lock().bytes), (Some('b'), 8));
        cache.insert(2, 'c', 11);
        assert_eq!((cache.get(&2), cache.state.lock().bytes), (None, 0));
        cache.insert(3, 'd', 10);
        cache.remove(&3);
        assert_eq!(cache.state.lock().bytes, 0);
    }
}
