//! The store: one method per use case, each with its own transaction, each about one organisation.
//!
//! Writes go through one thread that commits in groups ([`writer`]); reads go through two small pools that
//! cannot write, one for lists and one for everything else ([`sql::listing`]). A method that has answered `Ok` has made its rows durable. Another organisation's rows are absent.

mod data_keys;
mod fresh;
mod page_tokens;
mod sql;
mod storage;
mod token_cache;
mod writer;

use std::sync::Arc;

use sqlx::SqlitePool;

use crate::clock::Clock;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::error::{Error, Result};
use crate::ids::BootId;
use crate::secrets::KeyRing;
use data_keys::DataKeys;
use page_tokens::PageTokens;
use sql::callables::{self, Callables};
use sql::listing::Lists;
use sql::open::Database;
use storage::Storage;
use token_cache::TokenCache;
use writer::{Recording, Work, Writer};

/// The database of an installation; cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    readers: SqlitePool,
    lists: Lists,
    writer: Writer,
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
        let database = Database { path: data.database(), bytes_max: config.database_bytes_max };
        let connection = database.create(&clock).await?;
        let readers = database.readers(config.reader_connections).await?;
        let lists = Lists::new(database.readers(config.list_connections).await?, &config);
        let boot = BootId::new(&clock);
        let callables = Arc::new(callables::remembered());
        let changed = callables.clone();
        let writer = Writer::start(connection, database, move || changed.forget_all())?;
        let (tokens, page_tokens, storage) = (TokenCache::default(), PageTokens::new(keys), Storage::default());
        let (keys, data_keys) = (keys.clone(), DataKeys::default());
        let inner = Inner {
            readers,
            lists,
            writer,
            keys,
            data_keys,
            clock,
            config,
            boot,
            tokens,
            callables,
            page_tokens,
            storage,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Finishes the writes in the queue and closes the database; later calls are refused.
    pub async fn close(&self) {
        self.0.writer.close().await;
        self.0.lists.close().await;
        self.0.readers.close().await;
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
