//! The store: one method per use case, each with its own transaction, each for one organisation.
//!
//! One task does all writes and commits them in groups ([`writer`]). Two small pools of read-only connections serve the reads: one the
//! lists and searches ([`sql::kit::listing`]), the other everything else. When a method returns `Ok`, its rows are durable and
//! visible. Rows of other organisations are absent.

mod caches;
mod call_caches;
mod changes;
mod data_keys;
mod database;
mod deadline;
mod handle;
mod kept_rows;
mod lost_commits;
mod options;
mod other_tables;
mod page_tokens;
mod postgres;
mod queued;
mod retention;
mod sql;
mod sqlite;
pub mod statements;
mod storage_health;
mod subscribers;
mod token_cache;
mod transfer;
mod writer;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::config::Config;
use crate::error::Result;
use crate::files::data_dir::{DataDir, DataDirLock};
use crate::kit::ids::BootId;
pub use caches::CACHES;
use data_keys::DataKeys;
use database::Database;
pub use database::{DatabaseState, SchemaState};
use handle::Inner;
pub use handle::Store;
use kept_rows::KeptRows;
use lost_commits::LostCommits;
pub use options::{DatabaseLocation, StoreOptions};
use other_tables::OtherTables;
use page_tokens::PageTokens;
use postgres::Postgres;
use retention::Retention;
use sql::kit::listing::ListPool;
use sql::kit::master_key::{require_master_key, require_master_key_of_copy};
pub use sql::{
    Access, CountedRequest, History, Nodes, Operations, Repositories, RequestedCancellation, Tools, Versions,
};
use sqlite::Sqlite;
use storage_health::StorageHealth;
pub use subscribers::SeenChanges;
pub use transfer::{ComparedTable, TableCount, Transfer, TransferObserver, TransferProgress, TransferStep};
use writer::{Writer, WriterSetup};

impl Store {
    /// Opens the database of a data directory. Creates it, or applies missing migrations.
    pub async fn open(options: StoreOptions<'_>) -> Result<Self> {
        Ok(Self(Arc::new(open(options, Expected::Complete, None).await?)))
    }

    /// Like [`Store::open`], with the tables of another crate.
    pub async fn open_with(options: StoreOptions<'_>, tables: Arc<dyn OtherTables>) -> Result<Self> {
        Ok(Self(Arc::new(open(options, Expected::Complete, Some(tables)).await?)))
    }

    /// Like [`Store::open`], for the command that copies an installation to the database, before other servers can use it.
    pub async fn open_copy(_lock: &DataDirLock, options: StoreOptions<'_>) -> Result<Self> {
        Ok(Self(Arc::new(open(options, Expected::Copy, None).await?)))
    }
}

/// Returns the state of the database of a data directory, or of the one with a URL. `None` for a directory without a database.
/// Looking at it changes nothing.
///
/// # Errors
/// [`Error::DatabaseNewer`](crate::Error::DatabaseNewer), [`Error::DatabaseForeign`](crate::Error::DatabaseForeign) or another reason
/// why a server of this release cannot use it.
pub async fn inspect_database(location: &DatabaseLocation, directory: &Path) -> Result<Option<DatabaseState>> {
    match location {
        DatabaseLocation::DataDirectory if !DataDir::is_at(directory) => Ok(None),
        DatabaseLocation::DataDirectory => {
            Sqlite::new(DataDir::database_file(directory), None).inspect().await.map(Some)
        }
        DatabaseLocation::Url(url) => {
            Postgres::new(url.expose(), Config::default().list_time_max)?.inspect().await.map(Some)
        }
    }
}

/// The state of a database that is opened.
#[derive(Clone, Copy)]
enum Expected {
    Complete,
    /// A copy that may lack rows.
    Copy,
}

async fn open(
    options: StoreOptions<'_>,
    expected: Expected,
    other_tables: Option<Arc<dyn OtherTables>>,
) -> Result<Inner> {
    let StoreOptions { data, database, keys, clock, config } = options;
    let database: Arc<dyn Database> = match database {
        DatabaseLocation::DataDirectory => Arc::new(Sqlite::new(data.database(), config.database_bytes_max)),
        DatabaseLocation::Url(url) => Arc::new(Postgres::new(url.expose(), config.list_time_max)?),
    };
    let mut preparing = database.create(&clock).await?;
    match expected {
        Expected::Complete => require_master_key(&mut preparing, keys).await?,
        Expected::Copy => require_master_key_of_copy(&mut preparing, keys).await?,
    }
    let connection = database.writer().await?;
    preparing.close().await;
    let readers = database.readers(config.reader_connections).await?;
    let counters = database.counters(config.counter_connections);
    let lists = ListPool::new(database.readers(config.list_connections).await?, &config);
    let retention = Retention { time: config.tape_retention, answers_per_tool_max: config.recorded_answers_max };
    let boot = BootId::new(&clock);
    let kept = Arc::new(KeptRows::new(boot.clone(), other_tables));
    let (by_this_server, by_others) = (kept.clone(), kept.clone());
    let watch = database.watch(Box::new(move |notice| by_others.apply_notice(notice)));
    let writer = Writer::start(WriterSetup {
        connection,
        // Another server of the database hears of changes, if there can be one.
        announces_as: database.is_shared().then(|| boot.clone()),
        database: database.clone(),
        retention,
        on_commit: Box::new(move |changes| changes.iter().for_each(|change| by_this_server.apply(change))),
    });
    Ok(Inner {
        database,
        readers,
        counters,
        lists,
        writer,
        keys: keys.clone(),
        data_keys: DataKeys::default(),
        boot,
        node: OnceLock::new(),
        clock,
        config,
        retention,
        kept,
        _watch: watch,
        page_tokens: PageTokens::new(keys),
        health: StorageHealth::default(),
        lost_commits: LostCommits::default(),
    })
}

#[cfg(test)]
mod tests;
