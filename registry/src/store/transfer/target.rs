//! The database server that rows are copied to.

use super::encoding::encode_rows;
use super::layout::{Kind, Layout};
use super::range::{Batch, Range, add_order};
use super::source::{Positions, TransferSource, list_organizations};
use crate::error::{Error, Result};
use crate::kit::clock::Clock;
use crate::kit::invalid_value::InvalidValue;
use crate::secrets::KeyRing;
use crate::store::database::{Connection, Database, Query, Statement};
use crate::store::options::{DatabaseLocation, StoreOptions};
use crate::store::postgres::{Postgres, create_month_of};
use crate::store::sql::kit::master_key::{KeyCheck, check_key, mark_complete, mark_copying};
use crate::store::sql::nodes::node::count_nodes;

const HAS_TABLES: &str = "SELECT to_regclass('schema_migrations') IS NOT NULL AS found";

/// Later rows come after the copied ones.
const SET_POSITIONS: &str =
    "SELECT setval('inv_started_rowid', $1 + 1, false), setval('inv_finished_sequence', $2 + 1, false)";

pub(super) struct TransferTarget {
    database: Postgres,
    connection: Connection,
    keys: KeyRing,
    clock: Clock,
    has_tables: bool,
}

impl TransferTarget {
    /// Connects, and changes nothing.
    pub async fn connect(options: &StoreOptions<'_>) -> Result<Self> {
        let DatabaseLocation::Url(url) = &options.database else {
            return Err(InvalidValue::new("database", "must be a database server").into());
        };
        let database = Postgres::new(url.expose(), options.config.list_time_max)?;
        let mut connection = database.connect().await?;
        let has_tables = Query::new(HAS_TABLES).fetch_column("found", &mut connection).await?;
        Ok(Self { database, connection, has_tables, keys: options.keys.clone(), clock: options.clock.clone() })
    }

    /// Refuses a database of another installation, and one that a server has used.
    pub async fn refuse_other_data(&mut self, source: &mut TransferSource) -> Result<()> {
        if !self.has_tables {
            return Ok(());
        }
        match self.find_other_data(source).await? {
            Some(detail) => Err(Error::TargetOccupied { detail }),
            None => Ok(()),
        }
    }

    /// Returns what the database has and the source lacks.
    async fn find_other_data(&mut self, source: &mut TransferSource) -> Result<Option<String>> {
        if check_key(&mut self.connection, &self.keys).await? == KeyCheck::Wrong {
            return Ok(Some("it belongs to another master key".to_owned()));
        }
        let known = source.organizations().await?;
        let unknown = list_organizations(&mut self.connection).await?.into_iter().find(|found| !known.contains(found));
        if let Some(unknown) = unknown {
            return Ok(Some(format!("it has the organisation {unknown}, which the data directory lacks")));
        }
        if count_nodes(&mut self.connection).await? > 0 {
            return Ok(Some("a server uses it".to_owned()));
        }
        let here = Positions::read(&mut self.connection).await?;
        let there = source.positions().await?;
        let has_more = here.started > there.started || here.finished > there.finished;
        Ok(has_more.then(|| "it has runs that the data directory lacks".to_owned()))
    }

    /// Creates the tables with the partitions of all months, and lets no server start until the copy is complete.
    pub async fn begin(&mut self, source: &mut TransferSource) -> Result<()> {
        self.connection = self.database.create(&self.clock).await?;
        self.has_tables = true;
        self.refuse_other_data(source).await?;
        mark_copying(&mut self.connection, &self.keys).await?;
        self.create_months(source).await?;
        let Positions { started, finished } = source.positions().await?;
        Query::new(SET_POSITIONS).bind(started).bind(finished).fetch_one(&mut self.connection).await?;
        Ok(())
    }

    /// Creates the partitions of the months that have runs.
    async fn create_months(&mut self, source: &mut TransferSource) -> Result<()> {
        let mut from = String::new();
        while let Some(run) = source.next_run(&from).await? {
            from = create_month_of(&mut self.connection, &run).await?;
        }
        Ok(())
    }

    /// Lets servers start.
    pub async fn complete(&mut self) -> Result<()> {
        mark_complete(&mut self.connection, &self.keys).await
    }

    pub async fn count(&mut self, layout: &Layout) -> Result<u64> {
        if !self.has_tables {
            return Ok(0);
        }
        self.count_in(layout, &Range::default()).await
    }

    pub async fn count_in(&mut self, layout: &Layout, range: &Range) -> Result<u64> {
        let mut statement = Statement::default();
        statement.push(&format!("SELECT count(*) AS counted FROM {}", layout.table.name));
        range.add_to(&mut statement, layout);
        statement.query().fetch_column("counted", &mut self.connection).await
    }

    /// Inserts encoded rows, unless they are there.
    pub async fn insert(&mut self, layout: &Layout, rows: &[String]) -> Result<()> {
        let (table, names, typed) = (layout.table.name, layout.names(), write_typed_columns(layout));
        let mut statement = Statement::with(format!("[{}]", rows.join(",")));
        statement.push(&format!("INSERT INTO {table} ({names}) SELECT {names} FROM {{records $1 {typed}}} copied"));
        statement.push(" WHERE true ON CONFLICT DO NOTHING");
        statement.query().execute(&mut self.connection).await?;
        Ok(())
    }

    /// Reads the rows in the range of a batch, encoded: one more than the batch has, if there are more.
    pub async fn rows(&mut self, layout: &Layout, batch: &Batch) -> Result<Vec<String>> {
        self.read_some_rows(layout, &batch.range, batch.rows + 1).await
    }

    /// Returns the first row of a range, encoded.
    pub async fn first(&mut self, layout: &Layout, range: &Range) -> Result<Option<String>> {
        Ok(self.read_some_rows(layout, range, 1).await?.pop())
    }

    async fn read_some_rows(&mut self, layout: &Layout, range: &Range, limit: u64) -> Result<Vec<String>> {
        let mut statement = Statement::default();
        statement.push(&format!("SELECT {} FROM {}", layout.names(), layout.table.name));
        range.add_to(&mut statement, layout);
        add_order(&mut statement, layout);
        statement.bind(" LIMIT ?", i64::try_from(limit).unwrap_or(i64::MAX));
        encode_rows(&statement.query().fetch_all(&mut self.connection).await?, layout)
    }

    /// Lets the planner know the size of a table that was filled at once.
    pub async fn analyze(&mut self, layout: &Layout) -> Result<()> {
        let mut statement = Statement::default();
        statement.push(&format!("ANALYZE {}", layout.table.name));
        statement.query().execute(&mut self.connection).await?;
        Ok(())
    }

    pub async fn close(self) {
        self.connection.close().await;
    }
}

/// The columns with their types, as the fragment `records` has them.
fn write_typed_columns(layout: &Layout) -> String {
    let kind = |kind| match kind {
        Kind::Text => "TEXT",
        Kind::Integer => "INTEGER",
        Kind::Bytes => "BYTES",
    };
    let columns = layout.columns.iter().map(|column| format!("{} {}", column.name, kind(column.kind)));
    columns.collect::<Vec<_>>().join(", ")
}
