//! Several stores on one database server.

use std::time::Duration;

use registry::{DatabaseLocation, NewUser, RoleName, SeenChanges, UserId};
use sqlx::postgres::PgListener;
use tokio::time::timeout;

use crate::database;
use crate::fixtures::{World, store_beside};

/// Time without a change after which no notice is on its way.
const QUIET: Duration = Duration::from_secs(1);
/// Changes until a store listens, also on a slow machine.
const ATTEMPTS: usize = 60;
/// Bounds what must happen soon, also on a slow machine.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_change_is_announced_to_another_store() {
    if !database::is_server() {
        return;
    }
    let world = World::new().await;
    world.organization("acme").await;
    let (other, acme) = store_beside(world.data.root(), world.database.clone()).await;
    let globex = world.organization("globex").await;
    let tool = world.tool(&acme, "lookup").await;
    let mut own = other.seen_changes(&acme.organization, &acme.account);
    let foreign = other.seen_changes(&globex.organization, &globex.account);
    let admin = || RoleName::parse("admin").unwrap();
    // Until the other store listens, which tells once that everything may have changed.
    for _ in 0..ATTEMPTS {
        world.store.access().set_user_role(&acme.organization, &acme.user(), admin()).await.unwrap();
        if timeout(QUIET, own.changed()).await.is_ok() {
            break;
        }
    }
    while timeout(QUIET, own.changed()).await.is_ok() {}
    let (before, foreign_before) = (*own.borrow_and_update(), *foreign.borrow());
    world.store.tools().deprecate_tool(&acme, &tool).await.unwrap();
    timeout(SOON, own.changed()).await.expect("a notice").unwrap();
    assert_eq!(*own.borrow(), SeenChanges { tools: before.tools + 1, ..before });
    assert_eq!(*foreign.borrow(), foreign_before);
}

/// Notices of all stores of a database.
async fn listen(url: &str) -> PgListener {
    let mut listener = PgListener::connect(url).await.unwrap();
    listener.listen("lathe_changes").await.unwrap();
    listener
}

/// The first notice is that of a change which is made at the end.
#[tokio::test]
async fn writes_that_no_server_keeps_in_memory_are_not_announced() {
    let world = World::new().await;
    let DatabaseLocation::Url(url) = &world.database else { return };
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let mut notices = listen(url.expose()).await;
    for _ in 0..3 {
        world.store.nodes().heartbeat().await.unwrap();
        world.store.nodes().close_orphans().await.unwrap();
        world.store.operations().requested_cancellations().await.unwrap();
    }
    world.store.history().delete_expired_runs().await.unwrap();
    world.store.operations().delete_expired_attempts().await.unwrap();
    world.store.access().delete_expired_authorizations().await.unwrap();
    world.store.history().delete_expired_answers().await.unwrap();
    world.token_of(&acme.organization, "ann").await;
    world.answered(&acme, "an answer").await;
    world.lease(&acme, &tool).await;
    world.store.nodes().leave().await.unwrap();
    let bob = NewUser { id: UserId::parse("bob").unwrap(), role: RoleName::parse("admin").unwrap() };
    world.store.access().create_user(&acme.organization, bob).await.unwrap();
    world
        .store
        .access()
        .set_user_role(&acme.organization, &acme.user(), RoleName::parse("admin").unwrap())
        .await
        .unwrap();
    let notice = timeout(SOON, notices.recv()).await.expect("a notice").unwrap();
    assert_eq!(notice.payload(), format!("{} rights acme {}", world.store.boot(), acme.account.as_str()));
}

/// A write that fails within a group announces nothing; the others do.
#[tokio::test]
async fn a_refused_change_is_not_announced() {
    let world = World::new().await;
    let DatabaseLocation::Url(url) = &world.database else { return };
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let mut notices = listen(url.expose()).await;
    // The last administrator stays.
    world.store.access().remove_user(&acme.organization, &acme.user()).await.unwrap_err();
    world.store.tools().deprecate_tool(&acme, &tool).await.unwrap();
    let notice = timeout(SOON, notices.recv()).await.expect("a notice").unwrap();
    assert_eq!(notice.payload(), format!("{} tools acme", world.store.boot()));
}

#[tokio::test]
async fn a_store_is_counted_while_it_is_there() {
    let world = World::new().await;
    let nodes = async || database::number(&world, "SELECT count(*) FROM nodes").await;
    for _ in 0..2 {
        world.store.nodes().heartbeat().await.unwrap();
        assert_eq!(nodes().await, 1);
    }
    world.store.nodes().leave().await.unwrap();
    assert_eq!(nodes().await, 0);
}
