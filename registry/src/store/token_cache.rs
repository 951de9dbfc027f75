//! Principals of tokens checked a moment ago, so that a run does not pay a read for its caller, and the grants of roles,
//! which all tokens of their users share.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Timestamp;
use crate::grant::Grants;
use crate::principal::Principal;

/// What another process revoked is honoured here no longer than this.
const FRESH: Duration = Duration::from_secs(1);
/// Tokens remembered at once; beyond it those that are not fresh are dropped, or else all, which costs one read per
/// caller.
const ENTRIES_MAX: usize = 4096;
/// Roles remembered at once, each with at most a few megabytes of compiled patterns; beyond it as above.
const ROLES_MAX: usize = 64;

#[derive(Default)]
pub(super) struct TokenCache(Mutex<State>);

#[derive(Default)]
struct State {
    entries: HashMap<[u8; 32], Entry>,
    /// By their stored text.
    grants: HashMap<String, Grants>,
    /// How often everything was forgotten.
    generation: u64,
}

#[derive(Clone)]
pub(super) struct Checked {
    pub principal: Principal,
    pub expires_at: Timestamp,
}

struct Entry {
    checked: Checked,
    since: Instant,
}

/// Taken before the database is asked, so that an answer counts from then on, and not at all when rights changed while
/// it was on its way.
pub(super) struct Ticket {
    generation: u64,
    since: Instant,
}

impl TokenCache {
    pub fn get(&self, token_hash: &[u8; 32]) -> Option<Checked> {
        let state = self.state();
        let entry = state.entries.get(token_hash).filter(|entry| entry.since.elapsed() < FRESH);
        entry.map(|entry| entry.checked.clone())
    }

    pub fn ticket(&self) -> Ticket {
        #[expect(clippy::disallowed_methods, reason = "an age in memory, whatever the clock says")]
        let since = Instant::now();
        Ticket { generation: self.state().generation, since }
    }

    pub fn put(&self, ticket: &Ticket, token_hash: [u8; 32], checked: Checked) {
        let mut state = self.state();
        if state.generation != ticket.generation {
            return;
        }
        if state.entries.len() >= ENTRIES_MAX {
            state.entries.retain(|_, entry| entry.since.elapsed() < FRESH);
        }
        if state.entries.len() >= ENTRIES_MAX {
            state.entries.clear();
        }
        state.entries.insert(token_hash, Entry { checked, since: ticket.since });
    }

    /// The grants that a role has as JSON. The same text gives the same value, with what was compiled for it.
    pub fn grants(&self, json: &str) -> serde_json::Result<Grants> {
        let mut state = self.state();
        if state.grants.len() >= ROLES_MAX && !state.grants.contains_key(json) {
            state.grants.clear();
        }
        match state.grants.entry(json.to_owned()) {
            Place::Occupied(known) => Ok(known.get().clone()),
            Place::Vacant(place) => Ok(place.insert(serde_json::from_str(json)?).clone()),
        }
    }

    /// To be called after rights or keys changed, which happens rarely.
    pub fn forget_all(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.entries.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held cannot have left the map half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Checked, ENTRIES_MAX, ROLES_MAX, TokenCache};
    use crate::account::{OrganizationId, UserId};
    use crate::clock::Timestamp;
    use crate::grant::Grants;
    use crate::permission::Permission;
    use crate::principal::Principal;

    fn checked() -> Checked {
        let organization = OrganizationId::parse("acme").unwrap();
        let user = UserId::parse("ann").unwrap();
        let principal = Principal { organization, user, grants: Grants::default(), key_ends_at: None };
        Checked { principal, expires_at: Timestamp::from_milliseconds(0) }
    }

    #[test]
    fn the_same_grants_are_kept_once() {
        let cache = TokenCache::default();
        let json = r#"[{"permission":"Tool:InvokeTool","conditions":[]}]"#;
        let (one, two) = (cache.grants(json).unwrap(), cache.grants(json).unwrap());
        let is_one = |one: &Grants, two: &Grants| std::ptr::eq(one.iter().next().unwrap(), two.iter().next().unwrap());
        assert!(is_one(&one, &two) && one.allow(Permission::InvokeTool));
        for number in 0..2 * ROLES_MAX {
            let other = format!(r#"[{{"permission":"Tool:GetTool","conditions":[]}}]{}"#, " ".repeat(number));
            assert!(!is_one(&cache.grants(&other).unwrap(), &one));
        }
        assert!(cache.state().grants.len() <= ROLES_MAX);
        assert!(cache.grants("[").is_err());
    }

    #[test]
    fn what_is_not_fresh_makes_room() {
        let cache = TokenCache::default();
        for number in 0..2 * ENTRIES_MAX {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            cache.put(&cache.ticket(), hash, checked());
        }
        assert!(cache.state().entries.len() <= ENTRIES_MAX);
    }

    #[test]
    fn what_was_read_before_rights_changed_is_not_kept() {
        let cache = TokenCache::default();
        let early = cache.ticket();
        cache.put(&cache.ticket(), [1; 32], checked());
        assert!(cache.get(&[1; 32]).is_some());
        cache.forget_all();
        assert!(cache.get(&[1; 32]).is_none());
        cache.put(&early, [1; 32], checked());
        assert!(cache.get(&[1; 32]).is_none());
        cache.put(&cache.ticket(), [1; 32], checked());
        assert!(cache.get(&[1; 32]).is_some());
    }
}
