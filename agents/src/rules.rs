//! Step 6 of a call, second part: the rules of the user forbid calls of agents.

use std::sync::Arc;

use registry::{CallerNames, LibraryScope, Principal, Provenance};
use serde::Deserialize;

use super::rule_cache::RuleEntry;
use super::services::Services;
use super::target::{Target, TrustClass};
use crate::call::Call;
use crate::error::Error;
use crate::native::EnforcedRules;

/// The API that an input names.
#[derive(Deserialize)]
struct NamedApi {
    api: String,
}

impl Services {
    /// Refuses a call of an agent that a rule of its user forbids. The server's own tools stay allowed.
    ///
    /// # Errors
    /// When a rule forbids the call, or the store cannot be read.
    pub async fn obey(&self, target: &Target, call: &Call) -> Result<(), Error> {
        if call.agent_call.is_none() || target.trust_class() == TrustClass::Platform {
            return Ok(());
        }
        let rules = self.rules_of(&scope(&call.principal, &call.caller_names)).await?;
        match rules.forbids(&names(target, call)) {
            Some(rule) => Err(Error::RuleForbids { tool_name: target.name().to_owned(), rule: rule.clone() }),
            None => Ok(()),
        }
    }

    /// The rules that are enforced for a user.
    pub async fn rules_of(&self, scope: &LibraryScope) -> Result<Arc<EnforcedRules>, Error> {
        let generation = self.store.rules_generation(&scope.organization, &scope.account);
        let now = self.clock.now();
        if let Some(rules) = self.rules.get(scope, (generation, now)) {
            return Ok(rules);
        }
        // Only what is written has a provenance.
        let library = self.store.library(scope.clone(), Provenance::default());
        let rules = Arc::new(EnforcedRules::of(&library).await?);
        self.rules.keep(scope, RuleEntry { generation, read_at: now, rules: rules.clone() });
        Ok(rules)
    }
}

/// The rules of a user within the application in whose name a call is made.
pub(super) fn scope(principal: &Principal, names: &CallerNames) -> LibraryScope {
    let (organization, account, app) = (principal.organization.clone(), principal.account.clone(), names.app.clone());
    LibraryScope { organization, account, app }
}

/// The name of a tool, and those of the APIs that are called.
fn names(target: &Target, call: &Call) -> Vec<String> {
    let tool = target.name();
    let inputs = call.inputs.iter().filter(|_| target.has_apis());
    let apis = inputs.filter_map(|input| serde_json::from_str::<NamedApi>(input.input_parameters.as_str()).ok());
    std::iter::once(tool.to_owned()).chain(apis.map(|named| format!("{tool}_{}", named.api))).collect()
}
