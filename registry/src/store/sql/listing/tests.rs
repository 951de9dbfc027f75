//! Lists that never end by themselves.

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
    let bounds = Config { list_connections: 4, list_time_max: time_max, list_wait_max: wait_max, ..Config::default() };
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
