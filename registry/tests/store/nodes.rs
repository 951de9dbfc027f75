//! Several stores on one database server.

use std::time::Duration;

use tokio::time::timeout;

use crate::database;
use crate::fixtures::{World, store_beside};

/// Bounds what must happen soon, also on a slow machine.
const SOON: Duration = Duration::from_secs(20);
/// Time without a change after which no announcement is on its way.
const QUIET: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_change_is_announced_to_another_store() {
    if !database::is_server() {
        return;
    }
    let world = World::new().await;
    world.organization("acme").await;
    let (other, acme) = store_beside(world.data.root(), world.database.clone()).await;
    while timeout(QUIET, other.changed()).await.is_ok() {}
    let tool = world.tool(&acme, "lookup").await;
    timeout(SOON, other.changed()).await.expect("an announcement");
    assert!(other.get_tool(&acme.organization, &tool).await.unwrap().is_some());
}

#[tokio::test]
async fn a_store_is_counted_while_it_is_there() {
    let world = World::new().await;
    let nodes = async || database::number(&world, "SELECT count(*) FROM nodes").await;
    for _ in 0..2 {
        world.store.heartbeat().await.unwrap();
        assert_eq!(nodes().await, 1);
    }
    world.store.leave().await.unwrap();
    assert_eq!(nodes().await, 0);
}
