//! The cache of callables, which is never older than the last change.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use registry::{BumpKind, Callable, Constraint, EnvvarChanges, EnvvarInsert, Principal, SecretValue, Store, ToolId};
use tokio::time::sleep;

use crate::database;
use crate::fixtures::{World, envvar};

async fn callable(world: &World, principal: &Principal, tool: &ToolId, constraint: &str) -> Option<Arc<Callable>> {
    let constraint = Constraint::parse(constraint).unwrap();
    world.store.versions().callable(&principal.organization, tool, &constraint).await.unwrap()
}

async fn version(world: &World, principal: &Principal, tool: &ToolId, constraint: &str) -> Option<String> {
    callable(world, principal, tool, constraint).await.map(|found| found.version.version.to_string())
}

#[tokio::test]
async fn a_change_is_visible_to_the_next_call() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    assert_eq!(version(&world, &acme, &tool, "").await, None);
    world.publish(&acme, &tool, BumpKind::Major).await;
    assert_eq!(version(&world, &acme, &tool, "").await.as_deref(), Some("1.0.0"));
    world.publish(&acme, &tool, BumpKind::Minor).await;
    assert_eq!(version(&world, &acme, &tool, "").await.as_deref(), Some("1.1.0"));
    assert_eq!(version(&world, &acme, &tool, "<1.1").await.as_deref(), Some("1.0.0"));
    for (constraint, expected) in [("~=1.0", "1.1.0"), ("~=1.0.0", "1.0.0")] {
        assert_eq!(version(&world, &acme, &tool, constraint).await.as_deref(), Some(expected), "{constraint}");
    }
    world.store.versions().deprecate_versions(&acme, &tool, &Constraint::parse("1.1.0").unwrap()).await.unwrap();
    assert_eq!(version(&world, &acme, &tool, "").await.as_deref(), Some("1.0.0"));
    world.store.tools().deprecate_tool(&acme, &tool).await.unwrap();
    assert_eq!(version(&world, &acme, &tool, "").await, None);
    assert_eq!(version(&world, &acme, &tool, "<1.1").await, None);
}

#[tokio::test]
async fn a_call_gets_the_variables_of_its_callable() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    for value in ["ONE", "TWO"] {
        let before = callable(&world, &acme, &tool, "").await.unwrap();
        let insert = EnvvarInsert { name: envvar(value), value: SecretValue::new(value.to_owned()), is_secret: true };
        let changes = EnvvarChanges { inserts: vec![insert], ..EnvvarChanges::default() };
        world.store.tools().modify_envvars(&acme, &tool, changes).await.unwrap();
        let after = callable(&world, &acme, &tool, "").await.unwrap();
        let variables = world.store.tools().variables_of(&after).await.unwrap();
        assert_eq!(variables.secrets[&envvar(value)].expose(), value);
        assert!(!world.store.tools().variables_of(&before).await.unwrap().secrets.contains_key(&envvar(value)));
    }
}

#[tokio::test]
async fn calls_share_a_callable_until_a_change() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    // A database server tells once that everything may have changed, when this store begins to listen.
    let (mut first, mut attempts) = (callable(&world, &acme, &tool, "").await.unwrap(), 0);
    loop {
        let second = callable(&world, &acme, &tool, "").await.unwrap();
        if Arc::ptr_eq(&first, &second) {
            break;
        }
        assert!(database::is_server() && attempts < 1_000, "calls share nothing");
        (first, attempts) = (second, attempts + 1);
    }
    let eve = world.organization("eve").await;
    assert!(callable(&world, &eve, &tool, "").await.is_none(), "another organisation's");
    world.publish(&acme, &tool, BumpKind::Minor).await;
    assert!(!Arc::ptr_eq(&first, &callable(&world, &acme, &tool, "").await.unwrap()));
}

#[tokio::test]
async fn nothing_is_read_again_because_time_has_passed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    let mut attempts = 0;
    loop {
        let first = callable(&world, &acme, &tool, "").await.unwrap();
        sleep(Duration::from_millis(1_100)).await;
        if Arc::ptr_eq(&first, &callable(&world, &acme, &tool, "").await.unwrap()) {
            break;
        }
        // A database server tells once that everything may have changed, when this store begins to listen.
        assert!(database::is_server() && attempts < 3, "the callable was read again");
        attempts += 1;
    }
}

#[tokio::test]
async fn a_change_by_another_store_is_seen() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    let other = Store::open(world.options()).await.unwrap();
    assert_eq!(version(&world, &acme, &tool, "").await.as_deref(), Some("1.0.0"));
    other.versions().deprecate_versions(&acme, &tool, &Constraint::parse("1.0.0").unwrap()).await.unwrap();
    let mut attempts = 0;
    while version(&world, &acme, &tool, "").await.is_some() {
        assert!(attempts < 1_000, "the change is never seen");
        sleep(Duration::from_millis(20)).await;
        attempts += 1;
    }
}

/// Each version is in memory once, whatever the constraints that it matches.
#[tokio::test]
async fn all_constraints_that_resolve_to_a_version_share_its_callable() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    world.publish(&acme, &tool, BumpKind::Minor).await;
    let mut callables = BTreeSet::new();
    // Entries expire after a second, in which a slow machine may not resolve all of them.
    let mut held = Vec::new();
    for number in 0..1_020 {
        let found = callable(&world, &acme, &tool, &format!(">=0,!=9.{number}.9")).await.unwrap();
        assert_eq!(found.version.version.to_string(), "1.1.0");
        callables.insert(Arc::as_ptr(&found) as usize);
        held.push(found);
    }
    assert!(callables.len() < 500, "{} copies of one version", callables.len());
    let first = callable(&world, &acme, &tool, "==1.0.0").await.unwrap();
    assert_eq!(first.version.version.to_string(), "1.0.0");
}
