//! Caches for authentication: the principals of recently checked tokens, keys and access tokens, and the grants of roles, which all users
//! of a role share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;

use super::ttl_cache::TtlCache;
use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::grant::Grants;
use crate::principal::Principal;

/// Cached tokens, keys and access tokens.
const TOKENS_MAX: usize = 4096;
/// Cached roles, each with at most a few megabytes of compiled patterns. When the cache is full, it is cleared.
const ROLES_MAX: usize = 64;

pub(super) struct TokenCache {
    /// Checked tokens, keys and access tokens by hash. Each kind is hashed with a key of its own.
    pub checked: TtlCache<[u8; 32], Checked>,
    /// Parsed grants by their stored text.
    grants: Mutex<HashMap<String, Grants>>,
}

#[derive(Clone)]
pub(super) struct Checked {
    pub principal: Principal,
    /// `None` for a key without an expiry.
    pub expires_at: Option<Timestamp>,
    /// The URL that an access token is for; `None` for a token or a key, which are for all.
    pub resource: Option<Arc<str>>,
}

impl Default for TokenCache {
    fn default() -> Self {
        Self { checked: TtlCache::new(TOKENS_MAX), grants: Mutex::default() }
    }
}

impl TokenCache {
    /// Drops the tokens and keys of a user, or of all users of an organisation.
    pub fn drop_tokens(&self, of: &OrganizationId, user: Option<&UserId>) {
        self.checked.drop_where(|_, Checked { principal, .. }| {
            principal.organization == *of && user.is_none_or(|user| principal.user == *user)
        });
    }

    /// Parses the grants of a role. The same text returns the same value with its compiled patterns.
    pub fn grants(&self, json: &str) -> serde_json::Result<Grants> {
        let mut grants = self.grants.lock();
        if grants.len() >= ROLES_MAX && !grants.contains_key(json) {
            grants.clear();
        }
        match grants.entry(json.to_owned()) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(entry) => Ok(entry.insert(serde_json::from_str(json)?).clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROLES_MAX, TokenCache};
    use crate::grant::Grants;
    use crate::permission::Permission;

    #[test]
    fn equal_grants_are_parsed_once() {
        let cache = TokenCache::default();
        let json = r#"[{"permission":"Tool:InvokeTool","conditions":[]}]"#;
        let (one, two) = (cache.grants(json).unwrap(), cache.grants(json).unwrap());
        let is_one = |one: &Grants, two: &Grants| std::ptr::eq(one.iter().next().unwrap(), two.iter().next().unwrap());
        assert!(is_one(&one, &two) && one.allow(Permission::InvokeTool));
        for number in 0..2 * ROLES_MAX {
            let other = format!(r#"[{{"permission":"Tool:GetTool","conditions":[]}}]{}"#, " ".repeat(number));
            assert!(!is_one(&cache.grants(&other).unwrap(), &one));
        }
        assert!(cache.grants.lock().len() <= ROLES_MAX);
        assert!(cache.grants("[").is_err());
    }
}
