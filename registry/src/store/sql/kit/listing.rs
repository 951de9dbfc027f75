//! Lists and searches: reads whose cost grows with the stored data. They have connections of their own, so that a request
//! that only has to authenticate its caller never waits for them.
//!
//! At most [`Config::list_connections`] lists run concurrently, and at most half of these for one organisation. The
//! others queue for at most [`Config::list_wait_max`]. All statements of a list share [`Config::list_time_max`]. The
//! database stops a statement as soon as its caller is gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::store::database::{Connection, Failure, FailureKind, Pool, PoolCount, Query, Row};
use crate::store::deadline::Deadline;

/// The connections of lists, with the permits of organisations.
pub(crate) struct ListPool {
    pool: Pool,
    /// Permits of each organisation that has lists running or waiting.
    permits: Mutex<BTreeMap<OrganizationId, Weak<Semaphore>>>,
    permits_per_organization: usize,
    time_max: Duration,
    wait_max: Duration,
    sorted_runs_max: u32,
}

/// A running list. Dropping it stops its statement.
pub struct Listing {
    connection: Connection,
    deadline: Deadline,
    /// Runs that the list may read to sort them.
    pub(in crate::store::sql) sorted_runs_max: i64,
    /// Whether a statement has begun and not ended.
    is_running: bool,
    _permit: OwnedSemaphorePermit,
}

impl ListPool {
    pub(in crate::store) fn new(pool: Pool, config: &Config) -> Self {
        let permits_per_organization = usize::try_from(config.list_connections / 2).unwrap_or(usize::MAX).max(1);
        Self {
            pool,
            permits: Mutex::default(),
            permits_per_organization,
            time_max: config.list_time_max,
            wait_max: config.list_wait_max,
            sorted_runs_max: config.list_sorted_runs_max,
        }
    }

    pub(crate) fn count(&self) -> PoolCount {
        self.pool.count()
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Waits until a list may begin. [`Error::DatabaseBusy`] when too many other lists run.
    pub(crate) async fn begin(&self, organization: &OrganizationId) -> Result<Listing> {
        let waited = timeout(self.wait_max, self.acquire(organization)).await;
        let busy =
            || Error::DatabaseBusy { detail: format!("too many lists run; none ended within {:?}", self.wait_max) };
        let (permit, mut connection) = waited.map_err(|_| busy())??;
        let deadline = Deadline::from_now(self.time_max);
        connection.limit(&deadline).await?;
        let sorted_runs_max = self.sorted_runs_max.into();
        Ok(Listing { connection, deadline, sorted_runs_max, is_running: false, _permit: permit })
    }

    /// Acquires a permit, then a connection; both queues are first come, first served. The permits bound how many lists
    /// of one organisation wait for a connection.
    async fn acquire(&self, organization: &OrganizationId) -> Result<(OwnedSemaphorePermit, Connection)> {
        let permit = self.get_permits(organization).acquire_owned().await.map_err(|_| Error::Closed)?;
        Ok((permit, self.pool.acquire().await?))
    }

    fn get_permits(&self, organization: &OrganizationId) -> Arc<Semaphore> {
        let mut permits = self.permits.lock();
        if let Some(own) = permits.get(organization).and_then(Weak::upgrade) {
            return own;
        }
        permits.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.permits_per_organization));
        permits.insert(organization.clone(), Arc::downgrade(&own));
        own
    }
}

impl Listing {
    /// Fails with [`Error::QueryTooSlow`] when the list's time is over. For work between two statements.
    pub(in crate::store::sql) fn check(&self) -> Result<()> {
        self.deadline.check()
    }

    /// Returns all rows of a query. [`Error::QueryTooSlow`] when the list's time is over.
    pub async fn rows(&mut self, query: Query) -> Result<Vec<Row>> {
        self.deadline.check()?;
        self.is_running = true;
        let rows = timeout(self.deadline.left(), query.fetch_all(&mut self.connection)).await;
        let rows = rows.map_err(|_| self.deadline.too_slow())?;
        self.is_running = false;
        rows.map_err(|failure| self.translate(failure))
    }

    /// Returns the row of a query that has at most one row.
    pub async fn row(&mut self, query: Query) -> Result<Option<Row>> {
        Ok(self.rows(query).await?.into_iter().next())
    }

    fn translate(&self, failure: Failure) -> Error {
        if failure.kind == FailureKind::TooSlow { self.deadline.too_slow() } else { failure.error }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.deadline.cancel();
        if self.is_running {
            self.connection.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;
    use crate::files::data_dir::DataDir;
    use crate::kit::account::UserId;
    use crate::kit::clock::Clock;
    use crate::secrets::KeyRing;
    use crate::store::{DatabaseLocation, Store, StoreOptions};

    const ENDLESS: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
        SELECT count(*) FROM numbers";

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_mins(10);
    /// Bounds an operation that must end soon, also on a slow machine.
    const SOON: Duration = Duration::from_secs(20);

    struct World {
        store: Store,
        _folder: tempfile::TempDir,
    }

    impl World {
        async fn new(config: Config) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let data = DataDir::open(folder.path().join("data")).unwrap();
            let keys = KeyRing::load(&data).unwrap();
            let options = StoreOptions {
                data: &data,
                database: DatabaseLocation::DataDirectory,
                keys: &keys,
                clock: Clock::system(),
                config,
            };
            let store = Store::open(options).await.unwrap();
            Self { store, _folder: folder }
        }

        async fn list(&self, organization: &str, statement: &'static str) -> Result<Vec<Row>> {
            let mut listing = self.store.open_listing(&named(organization)).await?;
            listing.rows(Query::new(statement)).await
        }

        /// Starts an endless list, which runs when this returns.
        async fn endless(&self, organization: &str) -> JoinHandle<Result<Vec<Row>>> {
            let mut listing = self.store.open_listing(&named(organization)).await.unwrap();
            tokio::spawn(async move { listing.rows(Query::new(ENDLESS)).await })
        }
    }

    fn named(organization: &str) -> OrganizationId {
        OrganizationId::parse(organization).unwrap()
    }

    fn config(time_max: Duration, wait_max: Duration) -> Config {
        let bounds =
            Config { list_connections: 4, list_time_max: time_max, list_wait_max: wait_max, ..Config::default() };
        Config { reader_connections: 1, ..bounds }
    }

    #[tokio::test]
    async fn the_statements_of_a_list_share_its_time() {
        let world = World::new(config(Duration::from_millis(200), LONG)).await;
        let mut listing = world.store.open_listing(&named("acme")).await.unwrap();
        for statement in [ENDLESS, "SELECT 1"] {
            let refused = timeout(SOON, listing.rows(Query::new(statement))).await.unwrap().unwrap_err();
            assert_eq!(refused.code(), "query_too_slow", "{refused}");
        }
        drop(listing);
        assert_eq!(world.list("acme", "SELECT 1").await.unwrap().len(), 1, "the next list has its own time");
    }

    #[tokio::test]
    async fn a_list_without_a_caller_stops() {
        let world = World::new(config(LONG, LONG)).await;
        for _ in 0..8 {
            let left = timeout(Duration::from_millis(50), world.list("acme", ENDLESS)).await;
            assert!(left.is_err(), "the caller left first");
        }
        for _ in 0..4 {
            let rows = timeout(SOON, world.list("acme", "SELECT 1")).await.unwrap().unwrap();
            assert_eq!(rows.len(), 1, "its connection is free again");
        }
    }

    #[tokio::test]
    async fn lists_of_one_organization_block_neither_other_lists_nor_other_reads() {
        let world = Arc::new(World::new(config(LONG, Duration::from_millis(300))).await);
        let running = [world.endless("acme").await, world.endless("acme").await];
        let refused = timeout(SOON, world.list("acme", "SELECT 1")).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), "database_busy", "its permits are taken");
        assert_eq!(timeout(SOON, world.list("globex", "SELECT 1")).await.unwrap().unwrap().len(), 1);

        let others = [world.endless("globex").await, world.endless("globex").await];
        let refused = timeout(SOON, world.list("initech", "SELECT 1")).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), "database_busy", "all connections are taken");
        let user = UserId::parse("ann").unwrap();
        let found = timeout(SOON, world.store.access().get_user(&named("acme"), &user)).await;
        assert_eq!(found.expect("lists do not block other reads").unwrap(), None);

        for list in running.into_iter().chain(others) {
            list.abort();
            assert!(list.await.is_err_and(|error| error.is_cancelled()));
        }
        assert_eq!(timeout(SOON, world.list("initech", "SELECT 1")).await.unwrap().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn permits_of_organizations_without_lists_are_dropped() {
        let world = World::new(config(LONG, LONG)).await;
        for organization in ["acme", "globex", "initech"] {
            world.list(organization, "SELECT 1").await.unwrap();
        }
        assert_eq!(world.store.0.lists.permits.lock().len(), 1);
    }
}
