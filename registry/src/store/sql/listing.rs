//! Reads whose cost grows with what is stored: lists, and searches. They have connections of their own, so that a
//! request which only has to know its caller never stands behind them.
//!
//! At most [`Config::list_connections`] of them run at once, at most half of these for one organisation; the others
//! wait in line for [`Config::list_wait_max`]. Each has [`Config::list_time_max`] for all of its statements, and the
//! database stops as soon as nobody wants the answer any more.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use sqlx::SqlitePool;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::dialect::{PoolConnection, Reading, Row, is_interrupted};
use crate::account::OrganizationId;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::store::Store;

/// Steps of the database's machine between two looks at the time: less than a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// Where lists are let in.
pub(in crate::store) struct Lists {
    pool: SqlitePool,
    /// What each organisation that has lists running or waiting may still run.
    shares: Mutex<BTreeMap<OrganizationId, Weak<Semaphore>>>,
    share: usize,
    time_max: Duration,
    wait_max: Duration,
}

/// A list that runs. Dropped, it stops.
pub(super) struct Listing {
    connection: PoolConnection,
    ending: Ending,
    _share: OwnedSemaphorePermit,
}

/// When a list is over.
#[derive(Clone)]
struct Ending {
    began: Instant,
    time_max: Duration,
    is_unwanted: Arc<AtomicBool>,
}

impl Lists {
    pub(in crate::store) fn new(pool: SqlitePool, config: &Config) -> Self {
        let share = usize::try_from(config.list_connections / 2).unwrap_or(usize::MAX).max(1);
        let (time_max, wait_max) = (config.list_time_max, config.list_wait_max);
        Self { pool, shares: Mutex::default(), share, time_max, wait_max }
    }

    pub(in crate::store) async fn close(&self) {
        self.pool.close().await;
    }

    async fn begin(&self, organization: &OrganizationId) -> Result<Listing> {
        let waited = tokio::time::timeout(self.wait_max, self.place(organization)).await;
        let line = || Error::DatabaseBusy { detail: format!("no list began within {:?}", self.wait_max) };
        let (share, mut connection) = waited.map_err(|_| line())??;
        let ending = Ending::from_now(self.time_max);
        // What the connection's last list left there is replaced; every list comes through here.
        let is_wanted = ending.clone();
        connection.lock_handle().await?.set_progress_handler(STEPS_BETWEEN_LOOKS, move || !is_wanted.has_come());
        Ok(Listing { connection, ending, _share: share })
    }

    /// Both lines serve those who came first. An organisation stands in the second with its share at most, whatever
    /// waits in the first.
    async fn place(&self, organization: &OrganizationId) -> Result<(OwnedSemaphorePermit, PoolConnection)> {
        let share = self.share_of(organization).acquire_owned().await.map_err(|_| Error::Closed)?;
        Ok((share, self.pool.acquire().await?))
    }

    fn share_of(&self, organization: &OrganizationId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(organization).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(organization.clone(), Arc::downgrade(&share));
        share
    }
}

impl Store {
    /// Waits until a list may begin. [`Error::DatabaseBusy`] when too many others run.
    pub(super) async fn listing(&self, organization: &OrganizationId) -> Result<Listing> {
        self.0.lists.begin(organization).await
    }
}

impl Listing {
    /// [`Error::QueryTooSlow`] when the list's time is over, for work between two statements.
    pub(super) fn check(&self) -> Result<()> {
        self.ending.check()
    }

    /// All rows of a statement. [`Error::QueryTooSlow`] when the list's time is over.
    pub(super) async fn rows(&mut self, statement: Reading<'_>) -> Result<Vec<Row>> {
        self.ending.check()?;
        statement.fetch_all(&mut *self.connection).await.map_err(|error| self.ending.told(error))
    }

    /// The row of a statement that has at most one.
    pub(super) async fn row(&mut self, statement: Reading<'_>) -> Result<Option<Row>> {
        self.ending.check()?;
        statement.fetch_optional(&mut *self.connection).await.map_err(|error| self.ending.told(error))
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.ending.is_unwanted.store(true, Ordering::Relaxed);
    }
}

impl Ending {
    #[expect(clippy::disallowed_methods, reason = "the time that a list takes, whatever the clock says")]
    fn from_now(time_max: Duration) -> Self {
        Self { began: Instant::now(), time_max, is_unwanted: Arc::default() }
    }

    fn has_come(&self) -> bool {
        self.is_unwanted.load(Ordering::Relaxed) || self.began.elapsed() >= self.time_max
    }

    fn check(&self) -> Result<()> {
        if self.has_come() { Err(self.too_slow()) } else { Ok(()) }
    }

    fn told(&self, error: sqlx::Error) -> Error {
        if is_interrupted(&error) { self.too_slow() } else { error.into() }
    }

    const fn too_slow(&self) -> Error {
        Error::QueryTooSlow { limit: self.time_max }
    }
}

/// Lists that never end by themselves.
#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;
    use crate::account::UserId;
    use crate::clock::Clock;
    use crate::data_dir::DataDir;
    use crate::secrets::KeyRing;

    const ENDLESS: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
        SELECT count(*) FROM numbers";

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_mins(10);
    /// What must come soon comes within it, on the slowest machine.
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
            let store = Store::open(&data, &keys, Clock::system(), config).await.unwrap();
            Self { store, _folder: folder }
        }

        async fn list(&self, organization: &str, statement: &'static str) -> Result<Vec<Row>> {
            let mut listing = self.store.listing(&named(organization)).await?;
            listing.rows(sqlx::query(statement)).await
        }

        /// A list that runs when this returns.
        async fn endless(&self, organization: &str) -> JoinHandle<Result<Vec<Row>>> {
            let mut listing = self.store.listing(&named(organization)).await.unwrap();
            tokio::spawn(async move { listing.rows(sqlx::query(ENDLESS)).await })
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
    async fn a_list_has_its_time_for_all_of_its_statements() {
        let world = World::new(config(Duration::from_millis(200), LONG)).await;
        let mut listing = world.store.listing(&named("acme")).await.unwrap();
        for statement in [ENDLESS, "SELECT 1"] {
            let refused = timeout(SOON, listing.rows(sqlx::query(statement))).await.unwrap().unwrap_err();
            assert_eq!(refused.code(), "query_too_slow", "{refused}");
        }
        drop(listing);
        assert_eq!(world.list("acme", "SELECT 1").await.unwrap().len(), 1, "the next one has its own time");
    }

    #[tokio::test]
    async fn a_list_that_nobody_waits_for_stops() {
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
    async fn lists_of_one_organization_leave_room_for_others_and_for_everything_else() {
        let world = Arc::new(World::new(config(LONG, Duration::from_millis(300))).await);
        let running = [world.endless("acme").await, world.endless("acme").await];
        let refused = timeout(SOON, world.list("acme", "SELECT 1")).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), "database_busy", "its share runs");
        assert_eq!(timeout(SOON, world.list("globex", "SELECT 1")).await.unwrap().unwrap().len(), 1);

        let others = [world.endless("globex").await, world.endless("globex").await];
        let refused = timeout(SOON, world.list("initech", "SELECT 1")).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), "database_busy", "all that may run at once do");
        let user = UserId::parse("ann").unwrap();
        let found = timeout(SOON, world.store.get_user(&named("acme"), &user)).await;
        assert_eq!(found.expect("no list is in the way").unwrap(), None);

        for list in running.into_iter().chain(others) {
            list.abort();
            assert!(list.await.is_err_and(|error| error.is_cancelled()));
        }
        assert_eq!(timeout(SOON, world.list("initech", "SELECT 1")).await.unwrap().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn organizations_without_lists_are_forgotten() {
        let world = World::new(config(LONG, LONG)).await;
        for organization in ["acme", "globex", "initech"] {
            world.list(organization, "SELECT 1").await.unwrap();
        }
        assert_eq!(world.store.0.lists.shares.lock().unwrap().len(), 1);
    }
}
