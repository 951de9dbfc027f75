//! What was found of late, bounded in time and bytes.

use std::time::Duration;

use registry::{ByteCache, CacheBound, HeapBytes, Timestamp};

/// Values by their keys, with the times at which they were found.
pub(super) struct Recent<V> {
    age_max: Duration,
    entries: ByteCache<String, (Timestamp, V)>,
}

impl<V: Clone + HeapBytes> Recent<V> {
    pub(super) fn new(age_max: Duration, bound: CacheBound) -> Self {
        Self { age_max, entries: ByteCache::new(bound).with_ttl(age_max) }
    }

    /// Returns the value of a key that is not too old.
    pub(super) fn get(&self, key: &str, now: Timestamp) -> Option<V> {
        let (at, value) = self.entries.get(&key.to_owned())?;
        (at <= now && now < at.after(self.age_max)).then_some(value)
    }

    pub(super) fn insert(&self, key: &str, value: V, now: Timestamp) {
        self.entries.insert(key.to_owned(), (now, value));
    }

    pub(super) fn remove(&self, key: &str) {
        self.entries.remove(&key.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: CacheBound = CacheBound { name: "test", bytes_max: 10_000 };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(seconds * 1_000)
    }

    #[test]
    fn an_entry_is_there_for_a_while() {
        let recent = Recent::new(Duration::from_mins(30), BOUND);
        recent.insert("a", "1".to_owned(), at(60));
        let found = |minutes: i64| recent.get("a", at(60 * minutes));
        assert_eq!([0, 1, 30, 31].map(found), [None, Some("1".to_owned()), Some("1".to_owned()), None]);
        recent.insert("a", "2".to_owned(), at(31 * 60));
        assert_eq!(recent.get("a", at(32 * 60)).as_deref(), Some("2"));
        recent.remove("a");
        assert_eq!((recent.get("a", at(32 * 60)), recent.entries.bytes()), (None, 0));
    }

    #[test]
    fn the_bytes_are_bounded() {
        let recent = Recent::new(Duration::from_mins(30), BOUND);
        for number in 0..100 {
            recent.insert(&format!("key-{number}"), vec![0_u8; 1_000], at(0));
            assert!(recent.entries.bytes() <= BOUND.bytes_max, "{}", recent.entries.bytes());
            assert!(recent.get(&format!("key-{number}"), at(0)).is_some());
        }
    }
}
