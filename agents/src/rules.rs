//! The rules of users, which runs of agents read and which forbid calls of agents.

mod cache;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use registry::{CallerNames, Clock, Principal};
use runner::{CallPolicy, CalledTool, ToolCaller};

use crate::domain::library::{LibraryScope, Provenance};
use crate::library::EnforcedRules;
use crate::store::AgentStore;
pub(crate) use cache::RULES;
use cache::{RuleCache, RuleEntry};

/// The rules of all users. Clones share their cache.
#[derive(Clone)]
pub(crate) struct UserRules {
    store: AgentStore,
    clock: Clock,
    cache: RuleCache,
}

impl UserRules {
    pub fn new(store: AgentStore, clock: Clock) -> Self {
        Self { store, clock, cache: RuleCache::default() }
    }

    /// Reads the rules that are enforced for a user within an application.
    pub async fn read_enforced(
        &self,
        principal: &Principal,
        names: &CallerNames,
    ) -> Result<Arc<EnforcedRules>, registry::Error> {
        let (organization, account, app) =
            (principal.organization.clone(), principal.account.clone(), names.app.clone());
        let scope = LibraryScope { organization, account, app };
        let generation = self.store.rules_generation(&scope.organization, &scope.account);
        let now = self.clock.now();
        if let Some(rules) = self.cache.get(&scope, generation, now) {
            return Ok(rules);
        }
        // Only what is written has a provenance.
        let library = self.store.library(scope.clone(), Provenance::default());
        let rules = Arc::new(EnforcedRules::of(&library).await?);
        self.cache.keep(&scope, RuleEntry { generation, read_at: now, rules: rules.clone() });
        Ok(rules)
    }

    pub fn drop_expired(&self) {
        self.cache.drop_expired();
    }
}

/// Refuses calls that a rule of the user forbids.
impl CallPolicy for UserRules {
    fn check<'a>(&'a self, called: CalledTool<'a>) -> BoxFuture<'a, Result<(), runner::Error>> {
        let CalledTool { caller: ToolCaller { principal, names, .. }, tool, apis } = called;
        Box::pin(async move {
            let rules = self.read_enforced(principal, names).await?;
            let names: Vec<_> = std::iter::once(tool.to_owned()).chain(apis).collect();
            let Some(rule) = rules.forbids(&names) else { return Ok(()) };
            let message = format!("the rule {rule} of the user forbids calls of {tool}; rule_get shows it");
            Err(runner::Error::RuleForbids { message })
        })
    }
}
