//! The data directory, its lock, the master key's file, and the schema's checksums.

use std::os::unix::fs::PermissionsExt;

use registry::{DataDir, Error, KeyRing, Store};

use crate::database;
use crate::fixtures::World;

#[test]
fn a_second_server_is_refused_with_the_process_that_holds_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path().join("data")).unwrap();
    let lock = data.lock().unwrap();
    let refused = data.lock().unwrap_err();
    let ours = std::process::id().to_string();
    assert!(matches!(&refused, Error::DataDirectoryInUse { pid, .. } if *pid == ours), "{refused}");
    drop(lock);
    data.lock().unwrap();
}

#[test]
fn the_access_of_others_to_a_directory_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let (mode, set) = (
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
        |path: &std::path::Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        },
    );
    std::fs::create_dir(&root).unwrap();
    set(&root, 0o755);
    DataDir::open(&root).unwrap();
    assert_eq!(mode(&root), 0o700, "it was empty");
    std::fs::write(root.join("lathe.db"), "").unwrap();
    set(&root, 0o750);
    DataDir::open(&root).unwrap();
    assert_eq!(mode(&root), 0o700, "it is ours");
}

/// `/tmp`, or a home directory.
#[test]
fn a_directory_with_other_files_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("holiday.jpg"), "").unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = DataDir::open(folder.path()).unwrap_err();
    assert!(matches!(&refused, Error::DataDirectoryExposed { .. }) && refused.to_string().contains("chmod 700"));
    assert_eq!(std::fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o755);
    // A directory without access of others may contain any files.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    DataDir::open(folder.path()).unwrap();
}

#[tokio::test]
async fn the_master_key_is_private_and_stable() {
    let world = World::new().await;
    let file = world.data.keys().join("master.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = KeyRing::load(&world.data).unwrap();
    assert_eq!(again.derive("cache"), world.keys.derive("cache"));
    assert_ne!(again.derive("cache"), again.derive("tokens"));
}

#[tokio::test]
async fn an_exposed_key_file_is_refused() {
    let world = World::new().await;
    let file = world.data.keys().join("master.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(KeyRing::load(&world.data), Err(Error::KeyFileExposed { .. })));
}

#[tokio::test]
async fn a_missing_key_file_is_not_replaced_beside_a_database() {
    let world = World::new().await;
    std::fs::remove_file(world.data.keys().join("master.key")).unwrap();
    assert!(matches!(KeyRing::load(&world.data), Err(Error::KeyFileMissing { .. })));
}

#[test]
fn concurrent_first_starts_agree_on_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path().join("data")).unwrap();
    let starts: Vec<_> =
        (0..8).map(|_| data.clone()).map(|data| std::thread::spawn(move || KeyRing::load(&data))).collect();
    let derived: Vec<_> = starts.into_iter().map(|start| start.join().unwrap().unwrap().derive("cache")).collect();
    assert!(derived.iter().all(|key| *key == derived[0]));
}

#[tokio::test]
async fn a_database_of_a_newer_release_is_refused() {
    let world = World::new().await;
    alter(&world, "INSERT INTO schema_migrations VALUES (9999, 'later', 'sha256:0', 0)").await;
    let refused = Store::open(world.options()).await.unwrap_err();
    assert!(matches!(refused, Error::DatabaseNewer { found: 9999, .. }), "{refused}");
}

#[tokio::test]
async fn an_edited_migration_is_refused() {
    let world = World::new().await;
    alter(&world, "UPDATE schema_migrations SET checksum = 'sha256:0' WHERE number = 1").await;
    let refused = Store::open(world.options()).await.unwrap_err();
    assert!(matches!(refused, Error::MigrationChanged { number: 1 }), "{refused}");
}

async fn alter(world: &World, statement: &str) {
    world.store.close().await;
    database::execute(world, statement).await.unwrap();
}
