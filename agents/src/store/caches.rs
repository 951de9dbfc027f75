//! The rows of agents that a server keeps in memory, and what changes of them do.

use std::sync::Arc;
use std::time::Duration;

use registry::statements::{AccountEnd, Change, ChangeKind, Connection, OtherTables, Writing};
use registry::{AccountId, AgentId, ByteCache, CacheBound, OrganizationId, heap_bytes};

use super::removed_account::end_account;
use super::rule_generations::RuleGenerations;
use crate::domain::agents::{AgentReference, RunningAgent};

/// Age at which agents are dropped that were not changed, so that an idle server holds nothing of them.
const UNCHANGED_TTL: Duration = Duration::from_secs(600);

/// Agents by reference: some 10,000 references.
pub const AGENT_REFERENCES: CacheBound = CacheBound { name: "references of agents", bytes_max: 4 << 20 };
/// Most running agents have some kilobytes, and one with the largest draft some megabytes.
pub const RUNNING_AGENTS: CacheBound = CacheBound { name: "running agents", bytes_max: 64 << 20 };

/// An agent with a name. Personal agents of different authors can have the same slug.
#[derive(Clone)]
pub(super) struct NamedAgent {
    pub agent: AgentId,
    /// `None` for an agent of the organisation.
    pub personal_of: Option<AccountId>,
}

heap_bytes! {
    NamedAgent { agent, personal_of }
}

/// The rows of agents in memory, with the numbers of changes of rules.
pub(super) struct KeptRows {
    /// The agents with an id or a slug.
    pub references: ByteCache<(OrganizationId, AgentReference), Arc<[NamedAgent]>>,
    pub running: ByteCache<(OrganizationId, AgentId), Arc<RunningAgent>>,
    pub rules: RuleGenerations,
}

impl Default for KeptRows {
    fn default() -> Self {
        Self {
            references: ByteCache::new(AGENT_REFERENCES).with_ttl(UNCHANGED_TTL),
            running: ByteCache::new(RUNNING_AGENTS).with_ttl(UNCHANGED_TTL),
            rules: RuleGenerations::default(),
        }
    }
}

impl KeptRows {
    pub fn drop_expired(&self) {
        self.references.drop_expired();
        self.running.drop_expired();
    }

    fn drop_agents(&self, of: &OrganizationId) {
        self.references.drop_where(|(organization, _), _| organization == of);
        self.running.drop_where(|(organization, _), _| organization == of);
    }
}

impl OtherTables for KeptRows {
    fn end_account<'c>(&'c self, connection: &'c mut Connection, end: AccountEnd<'c>) -> Writing<'c, ()> {
        Box::pin(end_account(connection, end))
    }

    fn drop_changed(&self, change: &Change) {
        let Change { kind, organization, account } = change;
        match kind {
            // A catalogue is right as long as the running agent that it was made from is in the cache.
            ChangeKind::Tools | ChangeKind::Agents => self.drop_agents(organization),
            ChangeKind::Rules => self.rules.advance(organization, account.as_ref()),
            ChangeKind::Rights | ChangeKind::UserVariables | ChangeKind::Library | ChangeKind::Cancellations => {}
        }
    }

    fn drop_everything(&self) {
        self.references.clear();
        self.running.clear();
        self.rules.advance_all();
    }
}
