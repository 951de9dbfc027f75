//! Artifacts: bytes by digest.

use registry::{Artifacts, Digest, ErrorKind, Timestamp};

use crate::fixtures::World;

#[tokio::test]
async fn bytes_are_read_by_their_digest() {
    let world = World::new().await;
    let artifacts = Artifacts::open(&world.data).unwrap();
    let digest = artifacts.put(b"component".to_vec()).await.unwrap();
    assert_eq!(digest, Digest::of(b"component"));
    assert_eq!(artifacts.put(b"component").await.unwrap(), digest);
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    assert!(artifacts.contains(&digest).await.unwrap());
}

#[tokio::test]
async fn absent_bytes_are_absent() {
    let world = World::new().await;
    let artifacts = Artifacts::open(&world.data).unwrap();
    assert_eq!(artifacts.get(&Digest::of(b"nothing")).await.unwrap(), None);
    assert!(!artifacts.contains(&Digest::of(b"nothing")).await.unwrap());
}

#[tokio::test]
async fn damaged_bytes_are_refused_and_replaced_by_the_next_put() {
    let world = World::new().await;
    let artifacts = Artifacts::open(&world.data).unwrap();
    let digest = artifacts.put(b"component").await.unwrap();
    let name = digest.to_hex();
    let path = world.data.artifacts().join(&name[..2]).join(&name);
    std::fs::write(&path, b"componenT").unwrap();
    assert_eq!(artifacts.get(&digest).await.unwrap_err().kind(), ErrorKind::Corrupt);
    artifacts.put(b"component").await.unwrap();
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    // A directory with the name of the artifact is renamed, not deleted.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir_all(path.join("inside")).unwrap();
    assert_eq!(artifacts.get(&digest).await.unwrap_err().code(), "io");
    artifacts.put(b"component").await.unwrap();
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
}

#[tokio::test]
async fn what_killed_publications_left_is_deleted() {
    let world = World::new().await;
    let artifacts = Artifacts::open(&world.data).unwrap();
    let digest = artifacts.put(b"component").await.unwrap();
    let folder = world.data.artifacts().join(&digest.to_hex()[..2]);
    std::fs::write(folder.join(".Ab3.tmp"), b"compo").unwrap();
    std::fs::create_dir(folder.join("aside..Ab4.tmp")).unwrap();
    let at = |year: i64| Timestamp::from_milliseconds((year - 1970) * 31_556_952_000);
    assert_eq!(artifacts.delete_unfinished(at(2000)).await.unwrap(), 0);
    assert_eq!(artifacts.delete_unfinished(at(3000)).await.unwrap(), 1);
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2);
}
