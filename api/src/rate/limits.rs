//! Which operation has which limit.
//!
//! The numbers of the contract are requests per minute and user. It gives none for git, which therefore has none
//! here either, unless an operator sets one.

use std::collections::BTreeMap;

/// One operation of the contract, or more, if they share their requests.
struct Operation {
    name: &'static str,
    contract_per_minute: Option<u32>,
    routes: &'static [(&'static str, &'static str)],
}

const fn operation(
    name: &'static str,
    contract_per_minute: Option<u32>,
    routes: &'static [(&'static str, &'static str)],
) -> Operation {
    Operation { name, contract_per_minute, routes }
}

#[rustfmt::skip]
const OPERATIONS: [Operation; 15] = [
    operation("sign-in-with-api-key", Some(5), &[("POST", "/v1/{organization}/user/signin_with_api_key")]),
    operation("create-tool", Some(20), &[("POST", "/v1/{organization}/tool")]),
    operation("get-tools", Some(50), &[("GET", "/v1/{organization}/tool")]),
    operation("modify-tool", Some(20), &[("POST", "/v1/{organization}/tool/{tool_id}")]),
    operation("deprecate-tool", Some(20), &[("DELETE", "/v1/{organization}/tool/{tool_id}")]),
    operation("modify-tool-envvars", Some(20), &[("POST", "/v1/{organization}/tool/{tool_id}/envvar")]),
    operation("test-tool", Some(1), &[("POST", "/v1/{organization}/tool/test")]),
    operation("publish-tool-version", Some(10), &[("POST", "/v1/{organization}/tool/{tool_id}/version")]),
    operation("get-tool-versions", Some(50), &[("GET", "/v1/{organization}/tool/{tool_id}/version")]),
    operation("deprecate-tool-version", Some(20), &[("DELETE", "/v1/{organization}/tool/{tool_id}/version/{version}")]),
    operation("invoke-tool-version", Some(10), &[("POST", "/v1/{organization}/tool/{tool_id}/version/{version}/invoke")]),
    operation("get-tool-invocations", Some(50), &[("GET", "/v1/{organization}/tool/invocation")]),
    operation("search-tool-invocations", Some(50), &[("GET", "/v1/{organization}/tool/invocation/search")]),
    operation("get-tool-scaffold-release", Some(50), &[("GET", "/v1/{organization}/tool/amigo_tool_scaffold.tar.gz")]),
    operation("access-git-interface", None, &[("GET", "/v1/{organization}/tool/git/{*git_path}"), ("POST", "/v1/{organization}/tool/git/{*git_path}")]),
];

/// Requests per minute and user, by operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimits(BTreeMap<&'static str, u32>);

/// A limit is to be set for what is no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no operation `{name}`; limits can be set for {}", names())]
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
        let numbers = OPERATIONS.iter().filter_map(|one| Some((one.name, one.contract_per_minute?)));
        Self(numbers.collect())
    }

    /// Sets the limit of one operation; 0 takes it away.
    pub fn with(mut self, name: &str, per_minute: u32) -> Result<Self, UnknownOperation> {
        let operation = OPERATIONS.iter().find(|one| one.name == name);
        let operation = operation.ok_or_else(|| UnknownOperation { name: name.to_owned() })?;
        match per_minute {
            0 => self.0.remove(operation.name),
            _ => self.0.insert(operation.name, per_minute),
        };
        Ok(self)
    }

    /// Operation and limit of a route.
    pub(super) fn of(&self, method: &str, path: &str) -> Option<(&'static str, u32)> {
        let operation = OPERATIONS.iter().find(|one| one.routes.contains(&(method, path)))?;
        self.0.get_key_value(operation.name).map(|(name, per_minute)| (*name, *per_minute))
    }
}

fn names() -> String {
    OPERATIONS.map(|one| one.name).join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::router::routes;

    #[test]
    fn every_route_of_an_operation_is_served() {
        let served: Vec<_> = routes().iter().map(|route| (route.method, route.path)).collect();
        for route in OPERATIONS.iter().flat_map(|one| one.routes) {
            assert!(served.contains(route), "{route:?}");
        }
    }

    #[test]
    fn every_operation_of_the_contract_has_its_place() {
        let contract: Value = serde_json::from_str(include_str!("../../../tests/contract/tool-paths.json")).unwrap();
        let operations = contract.as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let expected: BTreeSet<_> = operations.filter_map(|one| one["operationId"].as_str()).collect();
        let mut known: BTreeSet<_> = OPERATIONS.iter().map(|one| one.name).collect();
        assert!(known.remove("sign-in-with-api-key"));
        assert_eq!(known, expected);
    }

    #[test]
    fn own_numbers_stand_beside_or_instead_of_the_contracts() {
        let limits = RateLimits::contract().with("invoke-tool-version", 600).unwrap().with("test-tool", 0).unwrap();
        let invoke = "/v1/{organization}/tool/{tool_id}/version/{version}/invoke";
        assert_eq!(limits.of("POST", invoke), Some(("invoke-tool-version", 600)));
        assert_eq!(limits.of("POST", "/v1/{organization}/tool/test"), None);
        assert_eq!(limits.of("GET", "/v1/{organization}/tool"), Some(("get-tools", 50)));
        assert_eq!(RateLimits::off().of("GET", "/v1/{organization}/tool"), None);
        let error = RateLimits::off().with("invoke", 1).unwrap_err().to_string();
        assert!(error.contains("`invoke`; limits can be set for sign-in-with-api-key, create-tool, "), "{error}");
    }
}
