//! Who has used what, in bounded memory.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use registry::{Principal, Timestamp};

use super::allowance::{Allowance, Restored, Verdict};

/// Users with operations that are remembered at once, some 20 MiB. A minute after a user's last request there is
/// nothing to remember of it.
const ENTRIES_MAX: usize = 100_000;

/// The table is looked through when it has doubled, so that the work per request stays small.
const SWEPT_ENTRIES_MIN: usize = 1_024;

/// One operation of one user. Names from a request that nobody has checked are cut to the length of real ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    operation: &'static str,
    organization: String,
    user: String,
    /// Where names come from that nobody has checked yet, so that nobody uses up another's requests.
    peer: Option<IpAddr>,
}

#[derive(Debug)]
pub(super) struct Table {
    entries_max: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug)]
struct Entries {
    used: HashMap<Key, Restored>,
    sweep_at: usize,
}

impl Key {
    pub(super) fn of(operation: &'static str, principal: &Principal) -> Self {
        let (organization, user) = (principal.organization.to_string(), principal.user.to_string());
        Self { operation, organization, user, peer: None }
    }

    pub(super) fn named(operation: &'static str, names: [&str; 2], peer: Option<IpAddr>) -> Self {
        /// The longest id of an organisation or a user.
        const CHARACTERS_MAX: usize = 128;
        let cut = |text: &str| text.chars().take(CHARACTERS_MAX).collect();
        let [organization, user] = names.map(cut);
        Self { operation, organization, user, peer }
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new(ENTRIES_MAX)
    }
}

impl Table {
    fn new(entries_max: usize) -> Self {
        let entries = Entries { used: HashMap::new(), sweep_at: SWEPT_ENTRIES_MIN.min(entries_max) };
        Self { entries_max, entries: Mutex::new(entries) }
    }

    /// Uses one request of `key`. A full table lets those pass that it cannot remember: the limits keep users from
    /// each other's way, and are no lock.
    pub(super) fn take(&self, key: Key, allowance: Allowance, now: Timestamp) -> Verdict {
        // A panic while the lock was held cannot have left the table half written.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(restored) = entries.used.get_mut(&key) {
            let (after, verdict) = allowance.take(Some(*restored), now);
            *restored = after;
            return verdict;
        }
        entries.sweep(now, self.entries_max);
        let (after, verdict) = allowance.take(None, now);
        if entries.used.len() < self.entries_max {
            entries.used.insert(key, after);
        }
        verdict
    }
}

impl Entries {
    fn sweep(&mut self, now: Timestamp, entries_max: usize) {
        if self.used.len() < self.sweep_at {
            return;
        }
        self.used.retain(|_, restored| !restored.is_past(now));
        self.sweep_at = (self.used.len() * 2).clamp(SWEPT_ENTRIES_MIN.min(entries_max), entries_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Allowance = Allowance::per_minute(1);

    fn key(user: usize) -> Key {
        Key::named("invoke", ["acme", &user.to_string()], None)
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(seconds * 1_000)
    }

    #[test]
    fn users_and_operations_are_apart() {
        let table = Table::default();
        assert_eq!(table.take(key(1), ONE, at(0)).retry_after, None);
        assert_ne!(table.take(key(1), ONE, at(0)).retry_after, None);
        assert_eq!(table.take(key(2), ONE, at(0)).retry_after, None);
        assert_eq!(table.take(Key::named("list", ["acme", "1"], None), ONE, at(0)).retry_after, None);
        assert_eq!(table.take(Key::named("invoke", ["other", "1"], None), ONE, at(0)).retry_after, None);
        let elsewhere = Key::named("invoke", ["acme", "1"], Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(table.take(elsewhere, ONE, at(0)).retry_after, None);
    }

    #[test]
    fn a_full_table_forgets_who_has_used_nothing_and_lets_the_others_pass() {
        let table = Table::new(10);
        for user in 0..10 {
            table.take(key(user), ONE, at(0));
        }
        assert_eq!(table.take(key(10), ONE, at(1)).retry_after, None);
        assert_eq!(table.take(key(10), ONE, at(1)).retry_after, None, "it is not remembered");
        assert_ne!(table.take(key(9), ONE, at(1)).retry_after, None, "it still is");
        table.take(key(10), ONE, at(60));
        assert_ne!(table.take(key(10), ONE, at(60)).retry_after, None, "there is room again");
        assert_eq!(table.entries.lock().unwrap().used.len(), 1);
    }

    #[test]
    fn memory_follows_the_users_of_the_last_minute() {
        let table = Table::default();
        for second in 0..600 {
            for user in 0..100 {
                table.take(key(second * 100 + user), ONE, at(i64::try_from(second).unwrap()));
            }
            assert!(table.entries.lock().unwrap().used.len() <= 2 * 60 * 100 + SWEPT_ENTRIES_MIN);
        }
    }
}
