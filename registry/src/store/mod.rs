//! The store: one method per use case, each with its own transaction, each about one organisation.
//!
//! Writes go through one thread that commits in groups ([`writer`]), and the record of runs through a journal before
//! ([`journal`]), if the store is the server's; reads go through two small pools that
//! cannot write, one for lists and one for everything else ([`sql::listing`]). A method that has answered `Ok` has made its rows durable. Another organisation's rows are absent.

mod backlog;
mod data_keys;
mod fresh;
mod journal;
mod page_tokens;
mod queued;
mod room;
mod sql;
mod storage;
mod token_cache;
mod writer;

use std::sync::Arc;

use sqlx::SqlitePool;

use crate::clock::Clock;
use crate::config::Config;
use crate::data_dir::{DataDir, DataDirLock};
use crate::error::{Error, Result};
use crate::ids::BootId;
use crate::secrets::KeyRing;
use backlog::Backlog;
use data_keys::DataKeys;
use journal::Journal;
use page_tokens::PageTokens;
use queued::{Recording, Work};
use sql::answers::Keeping;
use sql::callables::{self, Callables};
use sql::dialect::{Reading, Row};
use sql::halves::Halves;
use sql::listing::Lists;
use sql::open::Database;
use storage::Storage;
use token_cache::TokenCache;
use writer::Writer;

/// The database of an installation; cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    readers: SqlitePool,
    lists: Lists,
    writer: Writer,
    /// Of the one server that a data directory has.
    journal: Option<Journal>,
    backlog: Arc<Backlog>,
    keys: KeyRing,
    data_keys: DataKeys,
    clock: Clock,
    config: Config,
    boot: BootId,
    tokens: TokenCache,
    callables: Arc<Callables>,
    page_tokens: PageTokens,
    storage: Storage,
}

impl Store {
    /// Opens the database of a data directory, creating it or bringing it up to date.
    pub async fn open(data: &DataDir, keys: &KeyRing, clock: Clock, config: Config) -> Result<Self> {
        Ok(Self(Arc::new(Self::inner(data, keys, clock, config).await?)))
    }

    /// As [`Store::open`], for the server that has the data directory's lock. It puts the record of runs into a journal
    /// first, and begins with what an earlier server left there.
    pub async fn open_locked(
        data: &DataDir,
        _lock: &DataDirLock,
        keys: &KeyRing,
        clock: Clock,
        config: Config,
    ) -> Result<Self> {
        let mut inner = Self::inner(data, keys, clock, config).await?;
        inner.journal = Some(journal::open(data.root(), &inner.writer, &inner.backlog).await?);
        Ok(Self(Arc::new(inner)))
    }

    /// Finishes the writes in the queue and closes the database; later calls are refused.
    pub async fn close(&self) {
        let Inner { writer, journal, backlog, lists, readers, .. } = &*self.0;
        let segments = match journal {
            Some(journal) => journal.close().await,
            None => None,
        };
        writer.close().await;
        match segments {
            Some(mut segments) if backlog.is_empty() => {
                segments.clear().unwrap_or_else(|error| tracing::warn!(%error, "the journal cannot be cleared"));
            }
            Some(_) => tracing::warn!("the database took nothing: the next start enters what is in the journal"),
            None => {}
        }
        lists.close().await;
        readers.close().await;
    }

    /// Names this start of the process in the records that it begins.
    pub fn boot(&self) -> &BootId {
        &self.0.boot
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    fn page_tokens(&self) -> &PageTokens {
        &self.0.page_tokens
    }

    fn readers(&self) -> &SqlitePool {
        &self.0.readers
    }

    async fn inner(data: &DataDir, keys: &KeyRing, clock: Clock, config: Config) -> Result<Inner> {
        // Before the database is brought up to date for good.
        journal::check(data.root())?;
        let database = Database { path: data.database(), bytes_max: config.database_bytes_max };
        let connection = database.create(&clock).await?;
        let readers = database.readers(config.reader_connections).await?;
        let lists = Lists::new(database.readers(config.list_connections).await?, &config);
        let callables = Arc::new(callables::remembered());
        let changed = callables.clone();
        let backlog = Arc::new(Backlog::default());
        let keeping = Keeping { retention: config.tape_retention, of_a_tool_max: config.recorded_answers_max };
        let changed = move || changed.forget_all();
        let writer = Writer::start(connection, database, backlog.clone(), keeping, changed)?;
        Ok(Inner {
            readers,
            lists,
            writer,
            journal: None,
            backlog,
            keys: keys.clone(),
            data_keys: DataKeys::default(),
            boot: BootId::new(&clock),
            clock,
            config,
            tokens: TokenCache::default(),
            callables,
            page_tokens: PageTokens::new(keys),
            storage: Storage::default(),
        })
    }

    /// Keeps halves of records: they are durable when this returns. Of second halves that were not wanted it answers the
    /// first, unless that only shows later, when they come from the journal.
    async fn keep(&self, halves: Halves) -> Result<Option<Error>> {
        let kept = match &self.0.journal {
            Some(journal) if self.0.backlog.has_room() => journal.keep(halves, &self.0.writer).await,
            _ => self.0.writer.record(move |recorder| halves.enter(recorder)).await,
        };
        self.0.storage.note(&kept, self.0.clock.now());
        kept
    }

    /// Waits until all that is durable of the record of runs can be read, and says whether it can; a database that takes
    /// nothing is read all the same.
    async fn settle(&self) -> bool {
        let is_settled = self.0.backlog.settled().await;
        if !is_settled {
            tracing::warn!("the database takes nothing: what is read lacks records that are still in the journal");
        }
        is_settled
    }

    /// One row of the record of runs. [`Error::DatabaseBusy`] when it is not there and may yet come.
    async fn recorded(&self, query: Reading<'_>) -> Result<Option<Row>> {
        let is_settled = self.settle().await;
        match query.fetch_optional(self.readers()).await? {
            None if !is_settled => Err(Error::DatabaseBusy { detail: "records are still in the journal".into() }),
            found => Ok(found),
        }
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let written = self.0.writer.write(work).await;
        self.0.storage.note(&written, self.0.clock.now());
        written
    }

    /// A write into the record of runs.
    async fn record<T: Send + 'static>(&self, recording: impl Recording<T>) -> Result<T> {
        let written = self.0.writer.record(recording).await;
        self.0.storage.note(&written, self.0.clock.now());
        written
    }

    /// A write that takes rights from somebody: what was checked before it counts no more, also when nobody waits for
    /// the answer any longer.
    async fn change_rights<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let store = self.clone();
        let changed = tokio::spawn(async move {
            let changed = store.write(work).await;
            store.0.tokens.checked.forget_all();
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
