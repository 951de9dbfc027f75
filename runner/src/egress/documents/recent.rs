//! What was found of late, bounded in time and bytes.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use registry::Timestamp;

/// Bytes of an entry besides its key and its value.
const ENTRY_BYTES: usize = 128;

/// Values by their keys. The oldest are dropped when all have more bytes than they may have.
pub(super) struct Recent<V> {
    age_max: Duration,
    bytes_max: usize,
    bytes: usize,
    last_number: u64,
    entries: HashMap<String, Entry<V>>,
    /// Keys from the oldest to the newest, with the numbers of their entries. A replaced entry has another number.
    order: VecDeque<(String, u64)>,
}

struct Entry<V> {
    number: u64,
    at: Timestamp,
    bytes: usize,
    value: V,
}

impl<V: AsRef<[u8]>> Recent<V> {
    pub(super) fn new(age_max: Duration, bytes_max: usize) -> Self {
        Self { age_max, bytes_max, bytes: 0, last_number: 0, entries: HashMap::new(), order: VecDeque::new() }
    }

    /// Returns the value of a key that is not too old.
    pub(super) fn get(&self, key: &str, now: Timestamp) -> Option<&V> {
        let entry = self.entries.get(key)?;
        (entry.at <= now && now < entry.at.after(self.age_max)).then_some(&entry.value)
    }

    pub(super) fn insert(&mut self, key: &str, value: V, now: Timestamp) {
        self.remove(key);
        // The key is in the table and in the order.
        let bytes = 2 * key.len() + value.as_ref().len() + ENTRY_BYTES;
        self.last_number += 1;
        let number = self.last_number;
        self.bytes += bytes;
        self.entries.insert(key.to_owned(), Entry { number, at: now, bytes, value });
        self.order.push_back((key.to_owned(), number));
        while self.bytes > self.bytes_max {
            self.remove_oldest();
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
            self.order.retain(|(_, number)| *number != entry.number);
        }
    }

    fn remove_oldest(&mut self) {
        let Some((key, _)) = self.order.pop_front() else { return };
        if let Some(entry) = self.entries.remove(&key) {
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(seconds * 1_000)
    }

    #[test]
    fn an_entry_is_there_for_a_while() {
        let mut recent = Recent::new(Duration::from_secs(30), 10_000);
        recent.insert("a", "1", at(10));
        let found = |recent: &Recent<&'static str>, seconds| recent.get("a", at(seconds)).copied();
        assert_eq!([9, 10, 39, 40].map(|seconds| found(&recent, seconds)), [None, Some("1"), Some("1"), None]);
        recent.insert("a", "2", at(40));
        assert_eq!(found(&recent, 41), Some("2"));
        recent.remove("a");
        assert_eq!((found(&recent, 41), recent.bytes, recent.order.len()), (None, 0, 0));
    }

    #[test]
    fn the_oldest_are_dropped_when_the_bytes_are_used_up() {
        let mut recent = Recent::new(Duration::from_secs(30), 1_000);
        for number in 0..100 {
            recent.insert(&format!("key-{number}"), vec![0_u8; 100], at(number));
            assert!(recent.bytes <= 1_000, "{}", recent.bytes);
        }
        assert!(recent.get("key-99", at(99)).is_some() && recent.get("key-95", at(99)).is_none());
        assert_eq!(recent.order.len(), recent.entries.len());
        recent.insert("large", vec![0_u8; 1_000], at(99));
        assert_eq!((recent.bytes, recent.entries.len()), (0, 0), "it is larger than all together may be");
    }
}
