//! The rate limit of each operation. Operations have the names of the API's OpenAPI document.
//!
//! The numbers of the contract are requests per minute and user. The contract gives git no number, so that git has a
//! limit only if an operator sets one.

use std::collections::BTreeMap;

/// The limits of the contract.
const CONTRACT: [(&str, u32); 14] = [
    ("sign-in-with-api-key", 5),
    ("create-tool", 20),
    ("get-tools", 50),
    ("modify-tool", 20),
    ("deprecate-tool", 20),
    ("modify-tool-envvars", 20),
    ("test-tool", 1),
    ("publish-tool-version", 10),
    ("get-tool-versions", 50),
    ("deprecate-tool-version", 20),
    ("invoke-tool-version", 10),
    ("get-tool-invocations", 50),
    ("search-tool-invocations", 50),
    ("get-tool-scaffold-release", 50),
];

/// Requests per minute and user, by operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimits(BTreeMap<&'static str, u32>);

impl RateLimits {
    /// Maximum of a limit, in requests per minute. A server cannot answer more.
    pub const PER_MINUTE_MAX: u32 = 1_000_000;

    /// No limits.
    pub fn off() -> Self {
        Self::default()
    }

    /// The limits of the contract.
    pub fn contract() -> Self {
        Self(BTreeMap::from(CONTRACT))
    }

    /// Sets the limit of one operation; 0 removes the limit.
    #[must_use]
    pub fn with(mut self, operation: &'static str, per_minute: u32) -> Self {
        match per_minute {
            0 => self.0.remove(operation),
            _ => self.0.insert(operation, per_minute),
        };
        self
    }

    /// The operations with a limit.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    pub(super) fn of(&self, operation: &str) -> Option<u32> {
        self.0.get(operation).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_operation_of_the_contract_has_a_limit() {
        let contract: Value = serde_json::from_str(include_str!("../../../tests/contract/tool-paths.json")).unwrap();
        let operations = contract.as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let mut expected: BTreeSet<_> = operations.filter_map(|one| one["operationId"].as_str()).collect();
        expected.insert("sign-in-with-api-key");
        assert!(expected.remove("access-git-interface"));
        assert_eq!(BTreeSet::from(CONTRACT.map(|(name, _)| name)), expected);
    }

    #[test]
    fn own_numbers_add_to_the_contracts_or_replace_them() {
        let limits = RateLimits::contract().with("invoke-tool-version", 600).with("test-tool", 0);
        let limits = limits.with("access-git-interface", 100);
        let of = |name| limits.of(name);
        assert_eq!((of("invoke-tool-version"), of("test-tool"), of("get-tools")), (Some(600), None, Some(50)));
        assert_eq!((of("access-git-interface"), of("get-users")), (Some(100), None));
        assert_eq!(RateLimits::off().of("get-tools"), None);
    }
}
