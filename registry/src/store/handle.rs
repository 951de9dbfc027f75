//! The handle of the store, and the steps that its use cases share.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics::gauge;
use tokio::sync::watch;

use super::data_keys::DataKeys;
use super::database::{Database, Pool, PoolCount, Watch};
use super::kept_rows::KeptRows;
use super::lost_commits::LostCommits;
use super::page_tokens::PageTokens;
use super::queued::{Work, WriteError};
use super::retention::Retention;
use super::sql::history::record_rows::RecordRows;
use super::sql::kit::listing::{ListPool, Listing};
use super::storage_health::StorageHealth;
use super::subscribers::SeenChanges;
use super::writer::Writer;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::clock::Clock;
use crate::kit::ids::BootId;
use crate::kit::metrics::{CONNECTIONS, to_number};
use crate::nodes::NodeDescription;
use crate::secrets::KeyRing;

/// The database of an installation; cheap to clone.
#[derive(Clone)]
pub struct Store(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub database: Arc<dyn Database>,
    pub readers: Pool,
    pub counters: Option<Pool>,
    pub lists: ListPool,
    pub writer: Writer,
    pub keys: KeyRing,
    pub data_keys: DataKeys,
    pub clock: Clock,
    pub config: Config,
    pub retention: Retention,
    pub boot: BootId,
    /// What operators see of this server.
    pub node: OnceLock<NodeDescription>,
    /// Rows in memory, which changes drop.
    pub kept: Arc<KeptRows>,
    pub _watch: Option<Watch>,
    pub page_tokens: PageTokens,
    pub health: StorageHealth,
    pub lost_commits: LostCommits,
}

impl Store {
    /// Finishes the queued writes and closes the database. Later calls are refused.
    pub async fn close(&self) {
        let Inner { writer, lists, readers, .. } = &*self.0;
        writer.close().await;
        lists.close().await;
        readers.close().await;
    }

    /// Returns the id of this start of the process, which the records of its runs carry.
    pub fn boot(&self) -> &BootId {
        &self.0.boot
    }

    /// Sets the gauges of the connections to the database.
    pub fn measure_connections(&self) {
        let Inner { readers, lists, counters, .. } = &*self.0;
        let pools = [
            ("readers", Some(readers.count())),
            ("lists", Some(lists.count())),
            ("counters", counters.as_ref().map(Pool::count)),
        ];
        for (pool, count) in pools {
            let Some(PoolCount { open, idle }) = count else { continue };
            for (state, connections) in [("used", open.saturating_sub(idle)), ("idle", idle)] {
                gauge!(CONNECTIONS, "pool" => pool, "state" => state).set(to_number(connections));
            }
        }
    }

    /// Prepares the database for the next months, and the statistics of its planner.
    pub async fn prepare(&self) -> Result<()> {
        self.0.database.prepare(&self.0.clock).await
    }

    /// Whether several servers may use the database at the same time.
    pub fn is_shared(&self) -> bool {
        self.0.database.is_shared()
    }

    /// Waits until a user may have asked for the cancellation of a run. For one task.
    pub async fn cancellation_requested(&self) {
        self.0.kept.cancellations.notified().await;
    }

    /// Returns counters of the changes of what a user sees, by this server or by another. While notices of another server do not
    /// arrive, its changes are not counted; when they arrive again, everything counts as changed.
    pub fn seen_changes(&self, organization: &OrganizationId, account: &AccountId) -> watch::Receiver<SeenChanges> {
        self.0.kept.subscribers.subscribe(organization, account)
    }

    /// Derives a key for one purpose from the master key.
    pub fn derive_key(&self, purpose: &str) -> [u8; 32] {
        self.0.keys.derive(purpose)
    }

    /// How long the history is kept after the end of a run; `None` for ever.
    pub fn history_retention(&self) -> Option<Duration> {
        self.0.config.history_retention
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub(super) fn page_tokens(&self) -> &PageTokens {
        &self.0.page_tokens
    }

    /// The connections that count requests; `None` when no other server counts.
    pub(super) fn counters(&self) -> Option<&Pool> {
        self.0.counters.as_ref()
    }

    /// The connections of reads that are no lists.
    pub fn readers(&self) -> &Pool {
        &self.0.readers
    }

    /// Waits until a list may begin. [`Error::DatabaseBusy`] when too many other lists run.
    pub async fn open_listing(&self, organization: &OrganizationId) -> Result<Listing> {
        self.0.lists.begin(organization).await
    }

    /// Writes rows of the record of runs. They are durable when this returns. Returns the first end of a run that was refused.
    pub(super) async fn write_rows(&self, rows: RecordRows) -> Result<Option<Error>> {
        let written = self.0.writer.record(rows).await;
        self.0.health.note(&written, self.0.clock.now());
        written
    }

    /// Writes. What was written is durable and visible when this returns.
    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.write_or_refuse(work).await
    }

    /// Like [`Store::write`], with refusals that are no errors of the store.
    pub async fn write_or_refuse<T: Send + 'static, E: WriteError>(&self, work: impl Work<T, E>) -> Result<T, E> {
        let written = self.0.writer.write(work).await;
        self.0.health.note(&written, self.0.clock.now());
        written
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Store").field("boot", &self.0.boot).finish_non_exhaustive()
    }
}
