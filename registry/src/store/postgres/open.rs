//! Opening a database by its URL.

use std::path::Path;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use super::connection::{Reading, connect, wrap_connection};
use super::months::create_months;
use super::notices::watch;
use super::requirements::{require_durability, require_encoding, require_version};
use super::search;
use super::settings::{
    CONNECT_TIME_MAX, PING_TIME_MAX, Settings, build_counting_settings, build_reading_settings, build_writing_settings,
    parse_url,
};
use super::statistics::analyze;
use super::writing::build_writer;
use crate::error::{Error, Result};
use crate::kit::clock::Clock;
use crate::store::database::{
    Connection, Database, DatabaseState, Hear, Pool, Query, Running, Statement, TextSearch, Watch, Window, get,
};
use crate::store::sql::kit::migrate::{inspect, migrate};

const SERVER: &str = "SELECT current_setting('server_version') AS version,
    CAST(current_setting('max_connections') AS BIGINT) AS connections_max";

const TABLES: &str =
    "SELECT CAST(tablename AS TEXT) AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename";

/// The address of a database.
pub(in crate::store) struct Postgres {
    options: PgConnectOptions,
    read_time_max: Duration,
}

impl Postgres {
    /// `read_time_max` bounds every statement that reads.
    pub fn new(url: &str, read_time_max: Duration) -> Result<Self> {
        Ok(Self { options: parse_url(url)?, read_time_max })
    }

    /// Opens a connection for migrations and copies, whose statements may take any time.
    pub async fn connect(&self) -> Result<Connection> {
        Ok(wrap_connection(connect(&self.options).await?, Duration::MAX))
    }
}

impl Database for Postgres {
    fn create<'c>(&'c self, clock: &'c Clock) -> Running<'c, Connection> {
        Box::pin(async move {
            let mut connection = self.connect().await?;
            require_version(&mut connection).await?;
            require_encoding(&mut connection).await?;
            require_durability(&mut connection).await?;
            migrate(&mut connection, &migrations::POSTGRES, clock).await?;
            create_months(&mut connection, clock.now()).await?;
            Ok(connection)
        })
    }

    fn inspect(&self) -> Running<'_, DatabaseState> {
        Box::pin(async {
            let mut connection = self.connect().await?;
            let state = inspect_server(&mut connection).await;
            connection.close().await;
            state
        })
    }

    fn prepare<'c>(&'c self, clock: &'c Clock) -> Running<'c, ()> {
        Box::pin(async {
            let Settings { options, answer_time_max } = build_writing_settings(self.options.clone());
            let mut connection = wrap_connection(connect(&options).await?, answer_time_max);
            let created = create_months(&mut connection, clock.now()).await;
            connection.close().await;
            created?;
            let mut connection = self.connect().await?;
            let analyzed = analyze(&mut connection).await;
            connection.close().await;
            analyzed
        })
    }

    fn writer(&self) -> Running<'_, Connection> {
        Box::pin(async { Ok(build_writer(build_writing_settings(self.options.clone()))) })
    }

    fn readers(&self, connections: u32) -> Running<'_, Pool> {
        Box::pin(async move {
            Ok(build_pool(connections, build_reading_settings(self.options.clone(), self.read_time_max)))
        })
    }

    fn counters(&self, connections: u32) -> Option<Pool> {
        Some(build_pool(connections, build_counting_settings(self.options.clone())))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn watch(&self, hear: Hear) -> Option<Watch> {
        Some(Watch(tokio::spawn(watch(self.options.clone(), hear))))
    }

    /// Only the server of the database can see its disk.
    fn has_space(&self, _bytes: u64) -> bool {
        true
    }

    fn snapshot<'c>(&'c self, _path: &'c Path) -> Running<'c, ()> {
        Box::pin(async { Err(Error::SnapshotOfServer) })
    }

    fn finds_in_order(&self) -> bool {
        false
    }

    fn add_matches(&self, statement: &mut Statement, search: &TextSearch, window: &Window) {
        search::add_matches(statement, search, window);
    }
}

async fn inspect_server(connection: &mut Connection) -> Result<DatabaseState> {
    require_version(connection).await?;
    require_encoding(connection).await?;
    require_durability(connection).await?;
    let row = Query::new(SERVER).fetch_one(&mut *connection).await?;
    let (version, connections_max): (String, i64) = (get(&row, "version")?, get(&row, "connections_max")?);
    let tables = Query::new(TABLES).fetch_all(&mut *connection).await?;
    let tables = tables.iter().map(|row| get(row, "name")).collect::<Result<Vec<String>>>()?;
    let schema = inspect(connection, &tables, &migrations::POSTGRES).await?;
    let connections_max = u64::try_from(connections_max).ok();
    Ok(DatabaseState { product: format!("Postgres {version}"), schema, connections_max })
}

/// Connections that are used in turns. Each is tested before its use: the network or the database may have failed since.
fn build_pool(connections: u32, settings: Settings) -> Pool {
    let options = PgPoolOptions::new().max_connections(connections).acquire_timeout(CONNECT_TIME_MAX);
    let options = options.test_before_acquire(false).before_acquire(|connection, _| Box::pin(is_answering(connection)));
    let pool = options.connect_lazy_with(settings.options);
    Pool::new(Reading { pool, answer_time_max: settings.answer_time_max })
}

async fn is_answering(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    timeout(PING_TIME_MAX, connection.ping()).await.map_err(late)??;
    Ok(true)
}
