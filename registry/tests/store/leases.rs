//! One publication per tool at a time.

use std::time::Duration;

use registry::{
    BuildReference, BuildState, BumpKind, Busy, Constraint, Error, FailedBuild, Lease, Page, Principal, ToolId,
    ToolRef, VersionFilter,
};

use crate::fixtures::{LONG, World, new_version};

/// An expired lease.
async fn expired(world: &World, principal: &Principal, tool: &ToolId) -> Lease {
    world.store.versions().acquire_lease(principal, tool, Duration::ZERO).await.unwrap()
}

fn lost<T: std::fmt::Debug>(result: registry::Result<T>) {
    assert!(matches!(result, Err(Error::LeaseLost)), "{result:?}");
}

#[tokio::test]
async fn a_second_operation_learns_since_when_a_publication_runs() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (tool, other) = (world.tool(&acme, "lookup").await, world.tool(&acme, "other").await);
    let lease = world.lease(&acme, &tool).await;
    let store = &world.store;
    for refused in [
        store.versions().acquire_lease(&acme, &tool, LONG).await.map(|_| ()),
        store.tools().deprecate_tool(&acme, &tool).await,
        store.versions().deprecate_versions(&acme, &tool, &Constraint::any()).await.map(|_| ()),
    ] {
        let Err(Error::Busy(Busy { since })) = refused else { panic!("{refused:?}") };
        assert!(since.as_milliseconds() > 0);
    }
    world.lease(&acme, &other).await;
    world.fail_build(&lease).await;
    store.tools().deprecate_tool(&acme, &tool).await.unwrap();
}

#[tokio::test]
async fn an_expired_lease_is_taken_over_and_its_fence_is_stale() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let stale = expired(&world, &acme, &tool).await;
    let fresh = world.lease(&acme, &tool).await;
    assert!(fresh.fence > stale.fence);
    let failed = FailedBuild { stage: "compile".into(), message: "no".into(), log: String::new() };
    lost(world.store.versions().publish_version(&stale, new_version(BumpKind::Major)).await);
    lost(world.store.versions().record_failed_build(&stale, failed).await);
    lost(world.store.versions().renew_lease(&stale, LONG).await);
    let all = world
        .store
        .versions()
        .list_versions(
            ToolRef { organization: &acme.organization, tool: &tool },
            &VersionFilter::default(),
            Page::first(10),
        )
        .await;
    assert!(all.unwrap().items.is_empty());
    world.store.versions().publish_version(&fresh, new_version(BumpKind::Major)).await.unwrap();
    lost(world.store.versions().publish_version(&fresh, new_version(BumpKind::Major)).await);
}

#[tokio::test]
async fn an_expired_lease_without_a_successor_still_publishes() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let late = expired(&world, &acme, &tool).await;
    world.store.versions().publish_version(&late, new_version(BumpKind::Major)).await.unwrap();
}

#[tokio::test]
async fn a_renewed_lease_does_not_expire() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let lease = expired(&world, &acme, &tool).await;
    world.store.versions().renew_lease(&lease, LONG).await.unwrap();
    let refused = world.store.versions().acquire_lease(&acme, &tool, LONG).await;
    assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
}

#[tokio::test]
async fn deprecating_takes_over_an_expired_publication() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let stale = expired(&world, &acme, &tool).await;
    world.store.tools().deprecate_tool(&acme, &tool).await.unwrap();
    lost(world.store.versions().publish_version(&stale, new_version(BumpKind::Major)).await);
    let build = world
        .store
        .versions()
        .get_build(&acme.organization, &BuildReference::Build(stale.build))
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(build.state, BuildState::Failed { .. }), "{build:?}");
}

#[tokio::test]
async fn a_failed_build_is_stored_and_releases_the_lease() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let lease = world.lease(&acme, &tool).await;
    let failed = FailedBuild { stage: "compile".into(), message: "line 3\0".into(), log: "a\0b".into() };
    world.store.versions().record_failed_build(&lease, failed).await.unwrap();
    let build = world
        .store
        .versions()
        .get_build(&acme.organization, &BuildReference::Build(lease.build))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(build.state, BuildState::Failed { stage: "compile".into(), message: "line 3\0".into() });
    assert_eq!((build.log.as_str(), build.finished_at.is_some()), ("a\0b", true));
    world.lease(&acme, &tool).await;
}

#[tokio::test]
async fn a_start_of_the_server_releases_the_leases_of_earlier_starts() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let dead = world.lease(&acme, &tool).await;
    world.restart().await;
    world.store.nodes().close_orphans().await.unwrap();
    lost(world.store.versions().publish_version(&dead, new_version(BumpKind::Major)).await);
    world.publish(&acme, &tool, BumpKind::Major).await;
}
