//! Caches for authentication: the principals of recently checked tokens, keys and access tokens, and the grants of roles, which all users
//! of a role share.

use std::sync::Arc;

use super::call_caches::TTL;
use crate::access::{Grants, Principal};
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::byte_cache::{ByteCache, CacheBound, heap_bytes};
use crate::kit::clock::Timestamp;

/// Some 30,000 tokens of users with ordinary roles. Each counts the grants of its user in full.
pub(super) const CHECKED_TOKENS: CacheBound = CacheBound { name: "checked tokens", bytes_max: 32 << 20 };
/// A role has at most a few megabytes of compiled patterns, and most have none.
pub(super) const ROLE_GRANTS: CacheBound = CacheBound { name: "grants of roles", bytes_max: 16 << 20 };

pub(super) struct TokenCache {
    /// Checked tokens, keys and access tokens by hash. Each kind is hashed with a key of its own.
    pub checked: ByteCache<[u8; 32], Checked>,
    /// Parsed grants by their stored text.
    grants: ByteCache<String, Grants>,
}

#[derive(Clone)]
pub(super) struct Checked {
    pub principal: Principal,
    /// `None` for a key without an expiry.
    pub expires_at: Option<Timestamp>,
    /// The URL that an access token is for; `None` for a token or a key, which are for all.
    pub resource: Option<Arc<str>>,
}

heap_bytes! {
    Checked { principal, resource }
}

impl Default for TokenCache {
    fn default() -> Self {
        Self { checked: ByteCache::new(CHECKED_TOKENS).with_ttl(TTL), grants: ByteCache::new(ROLE_GRANTS) }
    }
}

impl TokenCache {
    /// Drops the tokens and keys of a user, or of all users of an organisation.
    pub fn drop_tokens(&self, of: &OrganizationId, account: Option<&AccountId>) {
        self.checked.drop_where(|_, Checked { principal, .. }| {
            principal.organization == *of && account.is_none_or(|account| principal.account == *account)
        });
    }

    /// Parses the grants of a role. The same text returns the same value with its compiled patterns.
    pub fn grants(&self, json: &str) -> serde_json::Result<Grants> {
        let key = json.to_owned();
        if let Some(known) = self.grants.get(&key) {
            return Ok(known);
        }
        let parsed: Grants = serde_json::from_str(json)?;
        self.grants.insert(key, parsed.clone());
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::{ROLE_GRANTS, TokenCache};
    use crate::access::{Grants, Permission};

    #[test]
    fn equal_grants_are_parsed_once() {
        let cache = TokenCache::default();
        let json = r#"[{"permission":"Tool:InvokeTool","conditions":[]}]"#;
        let (one, two) = (cache.grants(json).unwrap(), cache.grants(json).unwrap());
        let is_one = |one: &Grants, two: &Grants| std::ptr::eq(one.iter().next().unwrap(), two.iter().next().unwrap());
        assert!(is_one(&one, &two) && one.allow(Permission::InvokeTool));
        for number in 0..64 {
            let patterns =
                vec![format!(r#"{{"key":"tool_name","operator":"regex","value":"^{number}"}}"#); 10].join(",");
            let other = format!(
                r#"[{}]"#,
                vec![format!(r#"{{"permission":"Tool:GetTool","conditions":[{patterns}]}}"#); 10].join(",")
            );
            assert!(!is_one(&cache.grants(&other).unwrap(), &one));
            assert!(cache.grants.bytes() <= ROLE_GRANTS.bytes_max);
        }
        assert!(cache.grants("[").is_err());
    }
}
