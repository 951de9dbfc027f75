//! The database in the data directory, read in one transaction.

use super::encoding::encode_rows;
use super::layout::{Layout, read_layouts};
use super::range::{Batch, Range, add_order, build_batch, build_row_size};
use crate::error::{Error, Result};
use crate::secrets::KeyRing;
use crate::store::database::{Connection, Database, Pool, Query, Statement, Value, get};
use crate::store::options::StoreOptions;
use crate::store::sql::history::search_rebuild::{INDEXED_COLUMNS, INDEXED_RECORDS, write_index_rows};
use crate::store::sql::kit::master_key::{KeyCheck, check_key};
use crate::store::sql::kit::migrate::read_applied;
use crate::store::sqlite::Sqlite;

/// Highest positions of runs that have started and ended.
const POSITIONS: &str = "SELECT (SELECT coalesce(max(rowid), 0) FROM inv_started) AS started,
    (SELECT coalesce(max(sequence), 0) FROM inv_finished) AS finished";

const NEXT_RUN: &str = "SELECT min(invocation) AS run FROM inv_started WHERE invocation >= $1";

const ORGANIZATIONS: &str = "SELECT organization FROM organizations ORDER BY organization";

/// A connection that cannot write, within a transaction.
pub(super) struct TransferSource {
    connection: Connection,
    pool: Pool,
    /// Rows of a batch.
    rows_max: u32,
}

/// Highest positions of the record of runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    pub started: i64,
    pub finished: i64,
}

impl TransferSource {
    /// Opens the database. Refuses one that lacks migrations of this release.
    pub async fn open(options: &StoreOptions<'_>) -> Result<Self> {
        let pool = Sqlite::new(options.data.database(), None).readers(1).await?;
        let mut connection = pool.acquire().await?;
        Query::new("BEGIN").execute(&mut connection).await?;
        let mut source = Self { connection, pool, rows_max: options.config.copied_rows_max };
        source.require_current(options.keys).await?;
        Ok(source)
    }

    async fn require_current(&mut self, keys: &KeyRing) -> Result<()> {
        let found = read_applied(&mut self.connection).await?.last().map_or(0, |(number, _)| *number);
        let known = migrations::SQLITE.list.last().map_or(0, |migration| migration.number);
        if found > known {
            return Err(Error::DatabaseNewer { found, known });
        }
        if found < known {
            return Err(Error::DatabaseOlder { found, known });
        }
        match check_key(&mut self.connection, keys).await? {
            KeyCheck::Right => Ok(()),
            KeyCheck::Absent => Err(Error::DatabaseOlder { found, known }),
            KeyCheck::Copying | KeyCheck::Wrong => Err(Error::MasterKeyWrong),
        }
    }

    pub async fn layouts(&mut self) -> Result<Vec<Layout>> {
        read_layouts(&mut self.connection).await
    }

    pub async fn positions(&mut self) -> Result<Positions> {
        Positions::read(&mut self.connection).await
    }

    pub async fn organizations(&mut self) -> Result<Vec<String>> {
        list_organizations(&mut self.connection).await
    }

    /// Returns the first run whose id is not below a text.
    pub async fn next_run(&mut self, from: &str) -> Result<Option<String>> {
        Query::new(NEXT_RUN).bind(from).fetch_column("run", &mut self.connection).await
    }

    pub async fn count(&mut self, layout: &Layout) -> Result<u64> {
        let mut statement = Statement::default();
        statement.push(&format!("SELECT count(*) AS counted FROM {}", records(layout)));
        statement.query().fetch_column("counted", &mut self.connection).await
    }

    /// Returns the next batch after a key, if there are more rows.
    pub async fn batch(&mut self, layout: &Layout, after: Vec<Value>) -> Result<Option<Batch>> {
        let mut statement = Statement::default();
        let (key, size) = (layout.table.key.join(", "), build_row_size(layout));
        let size = if layout.is_text_index() { "bytes".to_owned() } else { format!("{size} AS bytes") };
        statement.push(&format!("SELECT {key}, {size} FROM {}", records(layout)));
        Range::after(after.clone()).add_to(&mut statement, layout);
        add_order(&mut statement, layout);
        statement.bind(" LIMIT ?", self.rows_max);
        let rows = statement.query().fetch_all(&mut self.connection).await?;
        build_batch(&rows, layout, after)
    }

    /// Reads the rows of a range, encoded.
    pub async fn rows(&mut self, layout: &Layout, range: &Range) -> Result<Vec<String>> {
        let mut statement = Statement::default();
        let columns = if layout.is_text_index() { INDEXED_COLUMNS.to_owned() } else { layout.names() };
        statement.push(&format!("SELECT {columns} FROM {}", records(layout)));
        range.add_to(&mut statement, layout);
        add_order(&mut statement, layout);
        let rows = statement.query().fetch_all(&mut self.connection).await?;
        if layout.is_text_index() { write_index_rows(&rows) } else { encode_rows(&rows, layout) }
    }

    pub async fn close(self) {
        self.connection.close().await;
        self.pool.close().await;
    }
}

/// The table that has the rows. The full-text index is made from the record of runs.
fn records(layout: &Layout) -> &'static str {
    if layout.is_text_index() { INDEXED_RECORDS } else { layout.table.name }
}

impl Positions {
    pub async fn read(connection: &mut Connection) -> Result<Self> {
        let row = Query::new(POSITIONS).fetch_one(connection).await?;
        Ok(Self { started: get(&row, "started")?, finished: get(&row, "finished")? })
    }
}

/// Returns the names of all organisations.
pub(super) async fn list_organizations(connection: &mut Connection) -> Result<Vec<String>> {
    let rows = Query::new(ORGANIZATIONS).fetch_all(connection).await?;
    rows.iter().map(|row| get(row, "organization")).collect()
}
