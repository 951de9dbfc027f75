//! Copying the database of a data directory to a database server.

pub mod contents;
mod faults;
mod lists;

use registry::{ComparedTable, DatabaseLocation, SecretValue, Store, StoreOptions, Transfer, TransferProgress};
use sqlx::{Connection, PgConnection};

use crate::cluster::Cluster;
use crate::world::World;

/// A filled data directory, and an empty database of a server.
struct Copy {
    world: World,
    cluster: Cluster,
    database: DatabaseLocation,
}

impl Copy {
    /// `None` when Postgres is not installed.
    async fn of_filled() -> Option<Self> {
        let cluster = Cluster::start()?;
        let world = contents::filled().await;
        world.store.close().await;
        let database = DatabaseLocation::Url(SecretValue::new(cluster.url("postgres")));
        Some(Self { world, cluster, database })
    }

    fn options(&self) -> StoreOptions<'_> {
        StoreOptions { database: self.database.clone(), ..self.world.options() }
    }

    async fn open(&self) -> registry::Result<Transfer> {
        Transfer::open(self.world.lock(), self.options()).await
    }

    async fn copied(&self) -> registry::Result<()> {
        self.open().await?.copy(&silent).await
    }

    async fn compared(&self) -> registry::Result<Vec<ComparedTable>> {
        self.open().await?.compare(&silent).await
    }

    /// Copies and compares everything.
    async fn run(&self) -> registry::Result<Vec<ComparedTable>> {
        let mut transfer = self.open().await?;
        transfer.copy(&silent).await?;
        let compared = transfer.compare(&silent).await?;
        transfer.complete().await?;
        transfer.close().await;
        Ok(compared)
    }

    /// Opens the copy as a server does.
    async fn server(&self) -> registry::Result<Store> {
        Store::open(self.options()).await
    }

    /// Opens the data directory as a server does.
    async fn old_server(&self) -> Store {
        Store::open(self.world.options()).await.unwrap()
    }

    /// Runs statements in the copy behind the store's back.
    async fn execute(&self, statements: &str) {
        let mut connection = PgConnection::connect(&self.cluster.url("postgres")).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    }

    async fn number(&self, query: &str) -> i64 {
        let mut connection = PgConnection::connect(&self.cluster.url("postgres")).await.unwrap();
        sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned())).fetch_one(&mut connection).await.unwrap()
    }
}

fn silent(_: TransferProgress) {}
