//! The requests that users have used, in bounded memory.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use governor::RateLimiter;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use parking_lot::Mutex;
use registry::Principal;

use super::clock::MonotonicClock;
use crate::server::find_client;

/// Users with operations whose requests are counted, some 20 MiB. A minute after a user's last request its entry is of
/// no use.
const ENTRIES_MAX: usize = 100_000;

/// Counts the requests of each key.
pub(super) type Limiter = RateLimiter<Key, Usage, MonotonicClock, StateInformationMiddleware>;

/// The key of a limit: an operation and a user. Unchecked names are cut to the longest valid length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    operation: &'static str,
    organization: String,
    user: String,
    /// The address that unchecked names come from, so that no client uses up another's requests.
    peer: Option<IpAddr>,
}

impl Key {
    pub(super) fn of(operation: &'static str, principal: &Principal) -> Self {
        let (organization, user) = (principal.organization.to_string(), principal.account.as_str().to_owned());
        Self { operation, organization, user, peer: None }
    }

    /// The key as a text, for the database that counts with other servers.
    pub(super) fn name(&self) -> String {
        let Self { operation, organization, user, peer } = self;
        let peer = peer.map_or_else(String::new, |peer| peer.to_string());
        serde_json::json!([operation, organization, user, peer]).to_string()
    }

    pub(super) fn from_names(operation: &'static str, names: [&str; 2], peer: Option<IpAddr>) -> Self {
        /// The longest id of an organisation or a user.
        const CHARACTERS_MAX: usize = 128;
        let cut = |text: &str| text.chars().take(CHARACTERS_MAX).collect();
        let [organization, user] = names.map(cut);
        Self { operation, organization, user, peer: peer.map(find_client) }
    }
}

/// A bounded table of governor's. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Usage {
    entries_max: usize,
    clock: MonotonicClock,
    /// The moments at which the quotas of users are full again.
    restored_at: Arc<Mutex<HashMap<Key, Nanos>>>,
}

impl Usage {
    pub(super) fn new(clock: MonotonicClock) -> Self {
        Self { entries_max: ENTRIES_MAX, clock, restored_at: Arc::default() }
    }
}

impl Usage {
    /// Returns the moment at which a user's quota is full again; `None` for a user who is not in the table.
    pub(super) fn find_restoration(&self, key: &Key) -> Option<Nanos> {
        self.restored_at.lock().get(key).copied()
    }
}

impl StateStore for Usage {
    type Key = Key;

    /// When the table is full, requests of users who are not in it are not counted: the limits share the server between
    /// users; they do not protect it against attacks.
    fn measure_and_replace<T, F, E>(&self, key: &Key, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut table = self.restored_at.lock();
        let before = table.get(key).copied();
        let (outcome, after) = measure(before)?;
        if before.is_none() && table.len() >= self.entries_max {
            let now = self.clock.now();
            table.retain(|_, restored_at| *restored_at > now);
        }
        if before.is_some() || table.len() < self.entries_max {
            table.insert(key.clone(), after);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use governor::Quota;
    use registry::Timestamp;

    use super::*;

    fn build_one_per_minute(entries_max: usize) -> (Limiter, Usage, registry::Clock) {
        let system = registry::Clock::fixed(Timestamp::from_milliseconds(1_000_000));
        let clock = MonotonicClock::new(system.clone());
        let usage = Usage { entries_max, ..Usage::new(clock.clone()) };
        (Limiter::new(Quota::per_minute(NonZeroU32::MIN), usage.clone(), clock), usage, system)
    }

    fn key(user: usize) -> Key {
        Key::from_names("invoke", ["acme", &user.to_string()], None)
    }

    #[test]
    fn users_and_operations_are_counted_apart() {
        let (limiter, ..) = build_one_per_minute(10);
        let elsewhere = Some(IpAddr::from([127, 0, 0, 1]));
        for key in [
            key(1),
            key(2),
            Key::from_names("list", ["acme", "1"], None),
            Key::from_names("invoke", ["other", "1"], None),
            Key::from_names("invoke", ["acme", "1"], elsewhere),
        ] {
            assert!(limiter.check_key(&key).is_ok(), "{key:?}");
            assert!(limiter.check_key(&key).is_err(), "{key:?}");
        }
    }

    #[test]
    fn a_full_table_drops_entries_of_no_use_and_does_not_count_new_users() {
        let (limiter, usage, system) = build_one_per_minute(10);
        for user in 0..10 {
            assert!(limiter.check_key(&key(user)).is_ok());
        }
        system.advance(Duration::from_secs(1));
        assert!(limiter.check_key(&key(10)).is_ok());
        assert!(limiter.check_key(&key(10)).is_ok(), "the user is not in the table");
        assert!(limiter.check_key(&key(9)).is_err(), "the user is still in the table");
        system.advance(Duration::from_secs(59));
        assert!(limiter.check_key(&key(10)).is_ok());
        assert!(limiter.check_key(&key(10)).is_err(), "the table has space again");
        assert_eq!(usage.restored_at.lock().len(), 1);
    }
}
