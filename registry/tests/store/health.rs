//! The check that the database accepts writes.

use std::time::Duration;

use registry::{Config, ErrorKind};

use crate::fixtures::{World, new_tool};

#[tokio::test]
async fn a_working_database_is_writable() {
    let world = World::new().await;
    let write_ahead_log = world.data.database().with_extension("db-wal");
    let bytes = || std::fs::metadata(&write_ahead_log).unwrap().len();
    let before = bytes();
    world.store.check_writable().await.unwrap();
    assert!(bytes() > before, "something reached the disk");
    world.store.close().await;
    assert_eq!(world.store.check_writable().await.unwrap_err().code(), "store_closed");
}

#[tokio::test]
async fn a_refused_write_fails_the_check_until_the_disk_has_space() {
    let world = World::with(Config { database_bytes_max: Some(896 * 1024), ..Config::for_tests() }).await;
    let acme = world.organization("acme").await;
    world.store.check_writable().await.unwrap();
    let mut number = 0;
    while world.store.tools().create_tool(&acme, new_tool(&format!("tool_{number}"))).await.is_ok() {
        number += 1;
    }
    let doubt = world.store.check_writable().await.unwrap_err();
    assert_eq!((doubt.kind(), doubt.code()), (ErrorKind::Unavailable, "storage_failing"));
    world.clock.advance(Duration::from_secs(60));
    assert!(world.store.check_writable().await.is_err(), "the database is as full as before");
}
