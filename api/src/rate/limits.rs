//! Which operation has which limit. Operations have the names of the API's own document.
//!
//! The numbers of the contract are requests per minute and user. It gives none for git, which therefore has none
//! here either, unless an operator sets one.

use std::collections::BTreeMap;

use crate::openapi::Operation;
use crate::router::routes;

/// What the contract says.
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

/// A limit is to be set for what is no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no operation `{name}`; limits can be set for {}", names().join(", "))]
pub struct UnknownOperation {
    name: String,
}

impl RateLimits {
    /// None.
    pub fn off() -> Self {
        Self::default()
    }

    /// The numbers of the contract.
    pub fn contract() -> Self {
        Self(BTreeMap::from(CONTRACT))
    }

    /// Sets the limit of one operation; 0 takes it away.
    pub fn with(mut self, name: &str, per_minute: u32) -> Result<Self, UnknownOperation> {
        let operation = names().into_iter().find(|known| *known == name);
        let operation = operation.ok_or_else(|| UnknownOperation { name: name.to_owned() })?;
        match per_minute {
            0 => self.0.remove(operation),
            _ => self.0.insert(operation, per_minute),
        };
        Ok(self)
    }

    pub(super) fn of(&self, operation: &str) -> Option<u32> {
        self.0.get(operation).copied()
    }
}

/// All operations, in the order of the table.
fn names() -> Vec<&'static str> {
    routes().iter().filter_map(|route| route.operation.as_ref()).map(Operation::id).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_operation_of_the_contract_has_its_place() {
        let contract: Value = serde_json::from_str(include_str!("../../../tests/contract/tool-paths.json")).unwrap();
        let operations = contract.as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let mut expected: BTreeSet<_> = operations.filter_map(|one| one["operationId"].as_str()).collect();
        expected.insert("sign-in-with-api-key");
        assert!(expected.remove("access-git-interface"));
        assert_eq!(BTreeSet::from(CONTRACT.map(|(name, _)| name)), expected);
        let served = names();
        assert!(expected.iter().all(|name| served.contains(name)));
    }

    #[test]
    fn own_numbers_stand_beside_or_instead_of_the_contracts() {
        let limits = RateLimits::contract().with("invoke-tool-version", 600).unwrap().with("test-tool", 0).unwrap();
        let limits = limits.with("access-git-interface", 100).unwrap();
        let of = |name| limits.of(name);
        assert_eq!((of("invoke-tool-version"), of("test-tool"), of("get-tools")), (Some(600), None, Some(50)));
        assert_eq!((of("access-git-interface"), of("get-users")), (Some(100), None));
        assert_eq!(RateLimits::off().of("get-tools"), None);
        let error = RateLimits::off().with("invoke", 1).unwrap_err().to_string();
        assert!(error.contains("`invoke`; limits can be set for ") && error.contains(", create-tool, "), "{error}");
    }
}
