//! Principals of tokens checked a moment ago, so that a run does not pay a read for its caller, and the grants of roles,
//! which all tokens of their users share.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::sync::{Mutex, PoisonError};

use super::fresh::Fresh;
use crate::clock::Timestamp;
use crate::grant::Grants;
use crate::principal::Principal;

/// Tokens remembered at once.
const TOKENS_MAX: usize = 4096;
/// Roles remembered at once, each with at most a few megabytes of compiled patterns; beyond it all are dropped.
const ROLES_MAX: usize = 64;

pub(super) struct TokenCache {
    /// By the hash of the token.
    pub checked: Fresh<[u8; 32], Checked>,
    /// By their stored text.
    grants: Mutex<HashMap<String, Grants>>,
}

#[derive(Clone)]
pub(super) struct Checked {
    pub principal: Principal,
    pub expires_at: Timestamp,
}

impl Default for TokenCache {
    fn default() -> Self {
        Self { checked: Fresh::new(TOKENS_MAX), grants: Mutex::default() }
    }
}

impl TokenCache {
    /// The grants that a role has as JSON. The same text gives the same value, with what was compiled for it.
    pub fn grants(&self, json: &str) -> serde_json::Result<Grants> {
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        if grants.len() >= ROLES_MAX && !grants.contains_key(json) {
            grants.clear();
        }
        match grants.entry(json.to_owned()) {
            Place::Occupied(known) => Ok(known.get().clone()),
            Place::Vacant(place) => Ok(place.insert(serde_json::from_str(json)?).clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROLES_MAX, TokenCache};
    use crate::grant::Grants;
    use crate::permission::Permission;

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
        assert!(cache.grants.lock().unwrap().len() <= ROLES_MAX);
        assert!(cache.grants("[").is_err());
    }
}
