//! The tables of agents: their statements, by noun, with what a server keeps of their rows in memory.
//!
//! They are in the database of a [`Store`], whose writer, connections and notices they use. Their text comes from the program and values
//! are bound.

mod agent_runs;
mod agents;
mod caches;
mod conversations;
mod corpus_models;
mod library;
#[cfg(test)]
#[path = "store/tests/plans.rs"]
mod plans;
mod removed_account;
mod rule_generations;

use std::sync::Arc;

use registry::statements::{Listing, Pool, Work};
use registry::{AccountId, Clock, OrganizationId, Result, Store, StoreOptions};
use tokio::sync::Notify;

use crate::config::StoreConfig;
use crate::error::Error;
use crate::memory_search::IndexCache;
pub use agent_runs::AgentRuns;
pub use agents::Agents;
use caches::KeptRows;
pub(crate) use caches::{AGENT_REFERENCES, RUNNING_AGENTS};
pub use conversations::Conversations;
pub(crate) use corpus_models::CORPUS_MODELS;
use corpus_models::CorpusModels;
pub use library::{Advance, AdvancedItem, DueRun, EndedRun, Library, Report};

/// The database of an installation with the tables of agents; cheap to clone.
#[derive(Clone)]
pub struct AgentStore(Arc<Inner>);

struct Inner {
    store: Store,
    config: StoreConfig,
    /// Rows in memory, which changes drop.
    kept: Arc<KeptRows>,
    memory_indices: IndexCache,
    corpora: CorpusModels,
    /// Wakes the task that makes vectors of memories.
    memory_written: Notify,
}

impl AgentStore {
    /// Opens the database of a data directory. Creates it, or applies missing migrations.
    ///
    /// # Errors
    /// Fails as [`Store::open`] does.
    pub async fn open(options: StoreOptions<'_>, config: StoreConfig) -> Result<Self> {
        let kept = Arc::<KeptRows>::default();
        let store = Store::open_with(options, kept.clone()).await?;
        Ok(Self(Arc::new(Inner {
            store,
            config,
            kept,
            memory_indices: IndexCache::default(),
            corpora: CorpusModels::default(),
            memory_written: Notify::new(),
        })))
    }

    /// The tables that are not of agents.
    #[must_use]
    pub fn registry(&self) -> &Store {
        &self.0.store
    }

    /// Returns a number that grows with every change of the rules of a user, as [`Store::seen_changes`] counts changes.
    #[must_use]
    pub fn rules_generation(&self, organization: &OrganizationId, account: &AccountId) -> u64 {
        self.0.kept.rules.of(organization, account)
    }

    /// Drops what has expired from the caches, so that an idle server holds nothing of what nobody asks for any more.
    pub fn drop_expired(&self) {
        self.0.kept.drop_expired();
    }

    fn clock(&self) -> &Clock {
        self.0.store.clock()
    }

    fn config(&self) -> &StoreConfig {
        &self.0.config
    }

    fn readers(&self) -> &Pool {
        self.0.store.readers()
    }

    async fn open_listing(&self, organization: &OrganizationId) -> Result<Listing> {
        self.0.store.open_listing(organization).await
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.0.store.write(work).await
    }

    /// Like [`AgentStore::write`], with refusals of agents.
    async fn write_or_refuse<T: Send + 'static>(&self, work: impl Work<T, Error>) -> Result<T, Error> {
        self.0.store.write_or_refuse(work).await
    }
}

impl std::fmt::Debug for AgentStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentStore").field("store", &self.0.store).finish_non_exhaustive()
    }
}
