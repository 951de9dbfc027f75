//! The contents of shared repositories, and the lease for a change.

use std::time::Duration;

use registry::{Digest, Error, RepositoryContents, StoredPack};

use crate::fixtures::{LONG, World};

fn contents(commit: &str) -> RepositoryContents {
    let pack = StoredPack { name: "0".repeat(40), digest: Digest::of(commit.as_bytes()), bytes: 9, fence: 1 };
    RepositoryContents {
        refs: [("refs/heads/main".to_owned(), commit.to_owned())].into(),
        packs: vec![pack],
        replaced: Vec::new(),
    }
}

fn lost<T: std::fmt::Debug>(result: registry::Result<T>) {
    assert!(matches!(result, Err(Error::LeaseLost)), "{result:?}");
}

#[tokio::test]
async fn contents_change_under_a_lease_one_generation_after_the_other() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await.organization, world.organization("other").await.organization);
    let store = &world.store;
    assert_eq!(store.repository_generation(&acme).await.unwrap(), 0);
    let lease = store.acquire_repository(&acme, LONG).await.unwrap().expect("a lease");
    assert_eq!(store.repository_generation(&acme).await.unwrap(), 0);
    assert_eq!(store.repository(&acme).await.unwrap(), None);
    assert_eq!(store.acquire_repository(&acme, LONG).await.unwrap(), None, "another change holds it");
    assert!(store.acquire_repository(&other, LONG).await.unwrap().is_some());
    for (number, commit) in [(0, "a"), (1, "b")] {
        assert_eq!(store.record_repository(&lease, number, &contents(commit)).await.unwrap(), number + 1);
        let found = store.repository(&acme).await.unwrap().expect("contents");
        assert_eq!((found.number, found.contents), (number + 1, contents(commit)));
    }
    lost(store.record_repository(&lease, 1, &contents("c")).await);
    lost(store.record_repository(&lease, 3, &contents("c")).await);
    store.release_repository(&lease).await.unwrap();
    lost(store.record_repository(&lease, 2, &contents("c")).await);
    lost(store.renew_repository(&lease, LONG).await);
    assert_eq!(store.repository_generation(&acme).await.unwrap(), 2);
    assert_eq!(store.repository(&other).await.unwrap(), None);
    let next = store.acquire_repository(&acme, LONG).await.unwrap().expect("a lease");
    assert!(next.fence > lease.fence);
}

#[tokio::test]
async fn the_fence_of_an_expired_lease_is_stale() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let store = &world.store;
    let stale = store.acquire_repository(&acme, Duration::ZERO).await.unwrap().expect("a lease");
    let fresh = store.acquire_repository(&acme, LONG).await.unwrap().expect("a lease");
    assert!(fresh.fence > stale.fence);
    lost(store.record_repository(&stale, 0, &contents("a")).await);
    lost(store.renew_repository(&stale, LONG).await);
    lost(store.release_repository(&stale).await);
    store.renew_repository(&fresh, LONG).await.unwrap();
    assert_eq!(store.record_repository(&fresh, 0, &contents("b")).await.unwrap(), 1);
}
