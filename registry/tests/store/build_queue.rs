//! Publications whose server is gone are taken over, each by one store.

use std::time::Duration;

use registry::{
    BegunOperation, BumpKind, NewOperation, OperationEnd, OperationId, OperationKind, OperationState, Principal,
    QueuedPublication, Refused, Store, ToolId,
};
use tokio::task::JoinSet;

use crate::database;
use crate::fixtures::{World, new_version};

const BODY: &str = "{\"project_path\":\"tools/é\"}";

async fn begun(world: &World, principal: &Principal, tool: &ToolId) -> OperationId {
    let (tool, request) = (tool.clone(), Some(BODY.to_owned()));
    let new = NewOperation { kind: OperationKind::Publish, tool, once: None, request };
    let BegunOperation::New(operation) = world.store.operations().begin_operation(principal, new).await.unwrap() else {
        panic!()
    };
    operation.id
}

async fn taken(world: &World) -> Option<QueuedPublication> {
    world.store.versions().take_over_publication().await.unwrap()
}

impl World {
    /// Restarts, as after a crash, and closes what the earlier start left open.
    async fn crash(&mut self) {
        self.restart().await;
        self.store.nodes().close_orphans().await.unwrap();
    }

    async fn state_of(&self, principal: &Principal, operation: &OperationId) -> OperationState {
        self.store.operations().get_operation(&principal.organization, operation).await.unwrap().unwrap().state
    }
}

#[tokio::test]
async fn the_longest_waiting_publication_is_taken_over_first() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    world.store.nodes().heartbeat().await.unwrap();
    let mut waiting = Vec::new();
    for name in ["first", "second"] {
        let tool = world.tool(&acme, name).await;
        waiting.push((begun(&world, &acme, &tool).await, tool));
        world.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(taken(&world).await, None, "their server is there");
    world.crash().await;
    for (id, tool) in waiting {
        let (organization, account) = (acme.organization.clone(), acme.account.clone());
        let expected =
            QueuedPublication { id, organization, account, tool, request: BODY.into(), commit: None, has_key: false };
        assert_eq!(taken(&world).await, Some(expected));
    }
    assert_eq!(taken(&world).await, None);
}

#[tokio::test]
async fn a_publication_is_begun_three_times_at_most() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let operation = begun(&world, &acme, &world.tool(&acme, "fatal").await).await;
    for _ in 0..2 {
        world.crash().await;
        assert_eq!(taken(&world).await.unwrap().id, operation);
        assert_eq!(world.state_of(&acme, &operation).await, OperationState::Running);
    }
    world.crash().await;
    assert_eq!(taken(&world).await, None);
    assert_eq!(world.state_of(&acme, &operation).await, OperationState::Interrupted);
}

#[tokio::test]
async fn a_publication_of_an_hour_ago_is_not_begun_again() {
    let mut world =
        World::with(registry::Config { operation_retention: Duration::from_hours(24), ..registry::Config::default() })
            .await;
    let acme = world.organization("acme").await;
    let operation = begun(&world, &acme, &world.tool(&acme, "old").await).await;
    world.clock.advance(Duration::from_hours(1));
    world.crash().await;
    assert_eq!(taken(&world).await, None);
    assert_eq!(world.state_of(&acme, &operation).await, OperationState::Interrupted);
}

/// The version of a publication exists although its server never learnt it.
#[tokio::test]
async fn a_publication_with_its_version_is_not_begun_again() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "made").await;
    let operation = begun(&world, &acme, &tool).await;
    let lease = world.lease(&acme, &tool).await;
    world.store.operations().link_build(&lease, &operation, None).await.unwrap();
    world.store.versions().publish_version(&lease, new_version(BumpKind::Minor)).await.unwrap();
    world.restart().await;
    database::execute(&world, "DELETE FROM nodes").await.unwrap();
    assert_eq!(taken(&world).await, None);
    world.store.nodes().close_orphans().await.unwrap();
    assert_eq!(world.state_of(&acme, &operation).await, OperationState::Succeeded);
}

#[tokio::test]
async fn a_publication_waits_for_its_tool() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "busy").await;
    let operation = begun(&world, &acme, &tool).await;
    let lease = world.lease(&acme, &tool).await;
    world.store.operations().link_build(&lease, &operation, Some("c0ffee".into())).await.unwrap();
    world.crash().await;
    let other = world.lease(&acme, &tool).await;
    assert_eq!(taken(&world).await, None);
    world.fail_build(&other).await;
    let taken = taken(&world).await.unwrap();
    assert_eq!((taken.id, taken.commit.as_deref()), (operation, Some("c0ffee")));
}

/// A server was paused for so long that another one took its publication over.
#[tokio::test]
async fn the_earlier_server_of_a_publication_changes_nothing() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "shared").await;
    let operation = begun(&world, &acme, &tool).await;
    let lease = world.lease(&acme, &tool).await;
    world.crash().await;
    database::execute(&world, "UPDATE operations SET boot = 'another'").await.unwrap();
    let linked = world.store.operations().link_build(&lease, &operation, None).await;
    assert!(matches!(linked, Err(registry::Error::LeaseLost)), "{linked:?}");
    let refused = Refused { status: 409, body: "{}".into() };
    for end in [OperationEnd::Succeeded, OperationEnd::Failed { refused, is_for_now: true }] {
        world.store.operations().end_operation(&acme.organization, &operation, end).await.unwrap();
        assert_eq!(world.state_of(&acme, &operation).await, OperationState::Running);
    }
}

#[tokio::test]
async fn each_publication_is_taken_over_by_one_store() {
    if !database::is_server() {
        return;
    }
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "many").await;
    for _ in 0..20 {
        begun(&world, &acme, &tool).await;
    }
    world.store.nodes().leave().await.unwrap();
    let mut takers: JoinSet<Vec<OperationId>> = JoinSet::new();
    for _ in 0..4 {
        let store = Store::open(world.options()).await.unwrap();
        takers.spawn(all_taken(store));
    }
    let taken: Vec<_> = takers.join_all().await.concat();
    let distinct: std::collections::BTreeSet<_> = taken.iter().collect();
    assert_eq!((taken.len(), distinct.len()), (20, 20));
}

async fn all_taken(store: Store) -> Vec<OperationId> {
    store.nodes().heartbeat().await.unwrap();
    let mut taken = Vec::new();
    while let Some(publication) = store.versions().take_over_publication().await.unwrap() {
        taken.push(publication.id);
    }
    taken
}
