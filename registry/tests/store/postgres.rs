//! All tests of this program once more, on Postgres; and a server that is killed.

use registry::{Config, DatabaseLocation, SecretValue};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::database::{execute, is_server, number};
use crate::fixtures::World;
use crate::on_postgres::run_on_postgres;

/// Tests of the file in the data directory.
const OF_FILES: [&str; 4] = [
    "health::",
    "data_dir::a_missing_key_file_is_not_replaced_beside_a_database",
    "group_commit::a_full_disk_is_reported_and_no_acknowledged_write_is_lost",
    "group_commit::the_full_text_index_writes_once_per_group",
];

#[test]
fn all_tests_pass_on_postgres() {
    run_on_postgres(&OF_FILES);
}

/// Acknowledged writes survive, and the store connects again.
#[tokio::test]
async fn a_store_survives_the_crash_of_its_server() {
    if is_server() {
        return;
    }
    let Some(mut cluster) = Cluster::start() else { return };
    let database = DatabaseLocation::Url(SecretValue::new(cluster.url("postgres")));
    let world = World::in_database(TempDir::new().unwrap(), Config::for_tests(), database).await.unwrap();
    let acme = world.organization("acme").await;
    let before = world.answered(&acme, "before").await;
    cluster.crash();
    world
        .store
        .check_writable()
        .await
        .expect("the first write succeeds: nothing of it was sent over the lost connection");
    let after = world.answered(&acme, "after").await;
    for run in [before, after] {
        assert!(world.store.history().get_invocation(&acme.organization, &run).await.unwrap().is_some());
    }
}

/// Postgres analyses partitions by itself, but not the tables that have them.
#[tokio::test]
async fn the_planner_gets_statistics_of_the_partitioned_tables() {
    if is_server() {
        return;
    }
    let Some(cluster) = Cluster::start() else { return };
    let database = DatabaseLocation::Url(SecretValue::new(cluster.url("postgres")));
    let world = World::in_database(TempDir::new().unwrap(), Config::for_tests(), database).await.unwrap();
    let acme = world.organization("acme").await;
    for number in 0..60 {
        world.answered(&acme, &number.to_string()).await;
    }
    let analyzed = "SELECT count(DISTINCT tablename) FROM pg_stats WHERE inherited AND tablename IN ('inv_started', 'inv_finished')";
    world.store.prepare().await.unwrap();
    assert_eq!(number(&world, analyzed).await, 0, "nothing tells yet that the partitions have grown");
    for table in ["inv_started", "inv_finished"] {
        let analyze = format!("ANALYZE {table}_2026_09");
        execute(&world, &analyze).await.unwrap();
    }
    world.store.prepare().await.unwrap();
    assert_eq!(number(&world, analyzed).await, 2);
}
