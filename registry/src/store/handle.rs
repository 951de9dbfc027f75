//! The handle of the store, and the steps that its use cases share.

use std::sync::Arc;

use sqlx::SqlitePool;

use super::callable_cache::CallableCache;
use super::data_keys::DataKeys;
use super::disk_space::DiskSpace;
use super::journal::Journal;
use super::page_tokens::PageTokens;
use super::pending_records::PendingRecords;
use super::queued::{RecordWork, Work};
use super::sql::dialect::{Reading, Row};
use super::sql::listing::{ListPool, Listing};
use super::sql::record_event::RecordEvent;
use super::storage_health::StorageHealth;
use super::token_cache::TokenCache;
use super::writer::Writer;
use crate::account::OrganizationId;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::ids::BootId;
use crate::secrets::KeyRing;

/// The database of an installation; cheap to clone.
#[derive(Clone)]
pub struct Store(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub readers: SqlitePool,
    pub lists: ListPool,
    pub writer: Writer,
    /// `None` without the lock of the data directory.
    pub journal: Option<Journal>,
    pub pending: Arc<PendingRecords>,
    pub keys: KeyRing,
    pub data_keys: DataKeys,
    pub clock: Clock,
    pub config: Config,
    pub boot: BootId,
    pub tokens: TokenCache,
    pub callables: Arc<CallableCache>,
    pub page_tokens: PageTokens,
    pub health: StorageHealth,
    pub disk_space: DiskSpace,
}

impl Store {
    /// Finishes the queued writes and closes the database. Later calls are refused.
    pub async fn close(&self) {
        let Inner { writer, journal, pending, lists, readers, .. } = &*self.0;
        let segments = match journal {
            Some(journal) => journal.close().await,
            None => None,
        };
        writer.close().await;
        match segments {
            Some(mut segments) if pending.is_empty() => {
                segments.clear().unwrap_or_else(|error| tracing::warn!(%error, "the journal could not be cleared"));
            }
            Some(_) => tracing::warn!(
                "the database is not accepting writes: the next start inserts the records in the journal"
            ),
            None => {}
        }
        lists.close().await;
        readers.close().await;
    }

    /// Returns the id of this start of the process, which the records of its runs carry.
    pub fn boot(&self) -> &BootId {
        &self.0.boot
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub(super) fn page_tokens(&self) -> &PageTokens {
        &self.0.page_tokens
    }

    pub(super) fn readers(&self) -> &SqlitePool {
        &self.0.readers
    }

    /// Waits until a list may begin. [`Error::DatabaseBusy`] when too many other lists run.
    pub(super) async fn listing(&self, organization: &OrganizationId) -> Result<Listing> {
        self.0.lists.begin(organization).await
    }

    /// Writes an event of the record of runs. It is durable when this returns. Returns the first end of a run that was
    /// refused; ends that are refused when they are inserted from the journal are not reported.
    pub(super) async fn write_event(&self, event: RecordEvent) -> Result<Option<Error>> {
        let written = match &self.0.journal {
            Some(journal) if self.0.pending.has_space() => journal.write(event, &self.0.writer).await,
            _ => self.0.writer.record(move |recorder| event.insert(recorder)).await,
        };
        self.0.health.note(&written, self.0.clock.now());
        written
    }

    /// Waits until all durable records are visible, and returns whether they are. While the database is not accepting
    /// writes, reads go on without them.
    pub(super) async fn wait_for_records(&self) -> bool {
        let are_visible = self.0.pending.wait_until_inserted().await;
        if !are_visible {
            tracing::warn!(
                "the database is not accepting writes: reads do not see the records that are still in the journal"
            );
        }
        are_visible
    }

    /// Reads one row of the record of runs. [`Error::DatabaseBusy`] when the row is absent and may still be in the journal.
    pub(super) async fn recorded(&self, query: Reading<'_>) -> Result<Option<Row>> {
        let are_visible = self.wait_for_records().await;
        match query.fetch_optional(self.readers()).await? {
            None if !are_visible => Err(Error::DatabaseBusy { detail: "records are still in the journal".into() }),
            found => Ok(found),
        }
    }

    pub(super) async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let written = self.0.writer.write(work).await;
        self.0.health.note(&written, self.0.clock.now());
        written
    }

    /// Writes to the record of runs.
    pub(super) async fn record<T: Send + 'static>(&self, work: impl RecordWork<T>) -> Result<T> {
        let written = self.0.writer.record(work).await;
        self.0.health.note(&written, self.0.clock.now());
        written
    }

    /// Writes a change that takes rights from a user, and clears the cache of checked tokens. The cache is cleared even
    /// when the caller is gone.
    pub(super) async fn change_rights<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let store = self.clone();
        let changed = tokio::spawn(async move {
            let changed = store.write(work).await;
            store.0.tokens.checked.clear();
            changed
        });
        changed.await.map_err(|_| Error::Closed)?
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Store").field("boot", &self.0.boot).finish_non_exhaustive()
    }
}
