//! Variables: changed all or nothing, sealed, and kept while a version requires them.

use registry::{BumpKind, EnvvarChanges, EnvvarInsert, EnvvarUpdate, Error, SecretValue, Version};

use crate::database;
use crate::fixtures::{World, envvar, holds, new_version};

fn insert(name: &str, value: &str, is_secret: bool) -> EnvvarInsert {
    EnvvarInsert { name: envvar(name), value: SecretValue::new(value.to_owned()), is_secret }
}

fn update(name: &str, value: &str) -> EnvvarUpdate {
    EnvvarUpdate { name: envvar(name), value: SecretValue::new(value.to_owned()) }
}

#[tokio::test]
async fn values_reach_a_run() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let inserts = vec![insert("URL", "https://example.org/\0", false), insert("TOKEN", "geheim🔑", true)];
    let changes = EnvvarChanges { inserts, ..EnvvarChanges::default() };
    world.store.tools().modify_envvars(&acme, &tool, changes).await.unwrap();
    let changes = EnvvarChanges { updates: vec![update("TOKEN", "other")], ..EnvvarChanges::default() };
    world.store.tools().modify_envvars(&acme, &tool, changes).await.unwrap();
    let variables = world.store.tools().tool_variables(&acme.organization, &tool).await.unwrap();
    assert_eq!(variables.envvars[&envvar("URL")], "https://example.org/\0");
    assert_eq!(variables.secrets[&envvar("TOKEN")].expose(), "other");
    assert_eq!((variables.envvars.len(), variables.secrets.len()), (1, 1));
    assert!(!format!("{variables:?}").contains("other"));
}

#[tokio::test]
async fn changes_are_applied_together_or_not_at_all() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.variable(&acme, &tool, "URL", false).await;
    let fresh = || vec![insert("FRESH", "1", false)];
    for (changes, code) in [
        (
            EnvvarChanges {
                inserts: vec![insert("FRESH", "1", false), insert("URL", "2", false)],
                ..EnvvarChanges::default()
            },
            "already_exists",
        ),
        (
            EnvvarChanges {
                inserts: vec![insert("FRESH", "1", false), insert("FRESH", "2", true)],
                ..EnvvarChanges::default()
            },
            "already_exists",
        ),
        (
            EnvvarChanges { inserts: fresh(), updates: vec![update("NONE", "1")], ..EnvvarChanges::default() },
            "variable_unknown",
        ),
        (
            EnvvarChanges { inserts: fresh(), updates: vec![update("URL", "changed")], deletes: vec![envvar("NONE")] },
            "variable_unknown",
        ),
        (
            EnvvarChanges { inserts: vec![insert("FRESH", &"x".repeat(40_000), false)], ..EnvvarChanges::default() },
            "invalid_value",
        ),
    ] {
        let refused = world.store.tools().modify_envvars(&acme, &tool, changes).await.unwrap_err();
        assert_eq!(refused.code(), code);
        let variables = world.store.tools().tool_variables(&acme.organization, &tool).await.unwrap();
        assert_eq!(variables.envvars.into_iter().collect::<Vec<_>>(), [(envvar("URL"), "value of URL".to_owned())]);
    }
}

#[tokio::test]
async fn a_variable_required_by_a_live_version_cannot_be_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.variable(&acme, &tool, "TOKEN", true).await;
    let mut version = new_version(BumpKind::Major);
    version.required_secret_envvars = vec![envvar("TOKEN")];
    let lease = world.lease(&acme, &tool).await;
    world.store.versions().publish_version(&lease, version).await.unwrap();
    let delete = || EnvvarChanges { deletes: vec![envvar("TOKEN")], ..EnvvarChanges::default() };
    let refused = world.store.tools().modify_envvars(&acme, &tool, delete()).await.unwrap_err();
    assert!(matches!(refused, Error::VariableRequired { version: Version::FIRST, .. }), "{refused}");
    world.store.versions().deprecate_versions(&acme, &tool, &registry::Constraint::any()).await.unwrap();
    world.store.tools().modify_envvars(&acme, &tool, delete()).await.unwrap();
}

#[tokio::test]
async fn values_are_sealed_and_cannot_be_moved_between_rows() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.variable(&acme, &tool, "FIRST", true).await;
    world.variable(&acme, &tool, "SECOND", false).await;
    let swap = "UPDATE envvars SET sealed = (SELECT sealed FROM envvars WHERE name = 'FIRST') WHERE name = 'SECOND'";
    database::execute(&world, swap).await.unwrap();
    let refused = world.store.tools().tool_variables(&acme.organization, &tool).await.unwrap_err();
    assert_eq!(refused.code(), "corrupt");
    assert!(!holds(&world.stored_bytes().await, b"value of"));
}
