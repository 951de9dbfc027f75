//! Opening a database by its URL.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::time::timeout;

use super::connection::{Reading, alone};
use super::errors::failure;
use super::months::create_months;
use super::notices::watch;
use super::requirements::{require_durability, require_encoding, require_version};
use super::search::{UNINDEX, matching};
use super::settings::{CONNECT_TIME_MAX, counting, parsed, reading, writing};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::store::database::{Connection, Database, Pool, Running, Statement, TextSearch, Watch};
use crate::store::sql::migrate::migrate;

/// The address of a database.
pub(in crate::store) struct Postgres {
    options: PgConnectOptions,
    read_time_max: Duration,
}

impl Postgres {
    /// `read_time_max` bounds every statement that reads.
    pub fn new(url: &str, read_time_max: Duration) -> Result<Self> {
        Ok(Self { options: parsed(url)?, read_time_max })
    }

    async fn connect(&self, options: PgConnectOptions) -> Result<Connection> {
        let connection = within(options.connect()).await?;
        Ok(alone(connection))
    }
}

impl Database for Postgres {
    fn create<'c>(&'c self, clock: &'c Clock) -> Running<'c, Connection> {
        Box::pin(async move {
            let mut connection = self.connect(self.options.clone()).await?;
            require_version(&mut connection).await?;
            require_encoding(&mut connection).await?;
            require_durability(&mut connection).await?;
            migrate(&mut connection, &migrations::POSTGRES, clock).await?;
            create_months(&mut connection, clock.now()).await?;
            connection.close().await;
            self.writer().await
        })
    }

    fn prepare<'c>(&'c self, clock: &'c Clock) -> Running<'c, ()> {
        Box::pin(async {
            let mut connection = self.connect(self.options.clone()).await?;
            let created = create_months(&mut connection, clock.now()).await;
            connection.close().await;
            created
        })
    }

    fn writer(&self) -> Running<'_, Connection> {
        Box::pin(self.connect(writing(self.options.clone())))
    }

    fn readers(&self, connections: u32) -> Running<'_, Pool> {
        Box::pin(async move {
            let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(CONNECT_TIME_MAX);
            let pool = pool.connect_lazy_with(reading(self.options.clone(), self.read_time_max));
            Ok(Pool::new(Reading(pool)))
        })
    }

    fn counters(&self, connections: u32) -> Option<Pool> {
        let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(CONNECT_TIME_MAX);
        Some(Pool::new(Reading(pool.connect_lazy_with(counting(self.options.clone())))))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn watch(&self, changed: Box<dyn Fn() + Send + Sync>) -> Option<Watch> {
        Some(Watch(tokio::spawn(watch(self.options.clone(), changed))))
    }

    /// Only the server of the database can see its disk.
    fn has_space(&self, _bytes: u64) -> bool {
        true
    }

    fn snapshot<'c>(&'c self, _path: &'c Path) -> Running<'c, ()> {
        Box::pin(async { Err(Error::SnapshotOfServer) })
    }

    fn matching(&self, statement: &mut Statement, search: &TextSearch) {
        matching(statement, search);
    }

    fn unindex(&self) -> &'static str {
        UNINDEX
    }
}

async fn within<T>(connecting: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T> {
    let late = |_| Error::DatabaseUnavailable { detail: format!("no connection within {CONNECT_TIME_MAX:?}") };
    Ok(timeout(CONNECT_TIME_MAX, connecting).await.map_err(late)?.map_err(failure)?)
}
