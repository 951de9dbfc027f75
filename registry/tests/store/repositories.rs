//! The contents of shared repositories, and the lease for a change.

use std::time::Duration;

use registry::{Clock, Digest, Error, PackFile, ReplacedPack, RepositoryContents, SharedRepositories, StoredPack};

use crate::artifacts::in_bucket;
use crate::bucket::Bucket;
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
    assert_eq!(store.repositories().repository_generation(&acme).await.unwrap(), 0);
    let lease = store.repositories().acquire_repository(&acme, LONG).await.unwrap().expect("a lease");
    assert_eq!(store.repositories().repository_generation(&acme).await.unwrap(), 0);
    assert_eq!(store.repositories().repository(&acme).await.unwrap(), None);
    assert_eq!(store.repositories().acquire_repository(&acme, LONG).await.unwrap(), None, "another change holds it");
    assert!(store.repositories().acquire_repository(&other, LONG).await.unwrap().is_some());
    for (number, commit) in [(0, "a"), (1, "b")] {
        assert_eq!(
            store.repositories().record_repository(&lease, number, &contents(commit)).await.unwrap(),
            number + 1
        );
        let found = store.repositories().repository(&acme).await.unwrap().expect("contents");
        assert_eq!((found.number, found.contents), (number + 1, contents(commit)));
    }
    lost(store.repositories().record_repository(&lease, 1, &contents("c")).await);
    lost(store.repositories().record_repository(&lease, 3, &contents("c")).await);
    store.repositories().release_repository(&lease).await.unwrap();
    lost(store.repositories().record_repository(&lease, 2, &contents("c")).await);
    lost(store.repositories().renew_repository(&lease, LONG).await);
    assert_eq!(store.repositories().repository_generation(&acme).await.unwrap(), 2);
    assert_eq!(store.repositories().repository(&other).await.unwrap(), None);
    let next = store.repositories().acquire_repository(&acme, LONG).await.unwrap().expect("a lease");
    assert!(next.fence > lease.fence);
}

#[tokio::test]
async fn the_fence_of_an_expired_lease_is_stale() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let store = &world.store;
    let stale = store.repositories().acquire_repository(&acme, Duration::ZERO).await.unwrap().expect("a lease");
    let fresh = store.repositories().acquire_repository(&acme, LONG).await.unwrap().expect("a lease");
    assert!(fresh.fence > stale.fence);
    lost(store.repositories().record_repository(&stale, 0, &contents("a")).await);
    lost(store.repositories().renew_repository(&stale, LONG).await);
    lost(store.repositories().release_repository(&stale).await);
    store.repositories().renew_repository(&fresh, LONG).await.unwrap();
    assert_eq!(store.repositories().record_repository(&fresh, 0, &contents("b")).await.unwrap(), 1);
}

#[tokio::test]
async fn packs_are_deleted_a_day_after_they_were_replaced() {
    let world = World::new().await;
    if !world.store.is_shared() {
        return; // The repositories of one server are in its data directory.
    }
    let Some(bucket) = Bucket::create() else { return };
    let acme = world.organization("acme").await.organization;
    let until_now = Clock::system().now().as_milliseconds() - world.clock.now().as_milliseconds();
    world.clock.advance(Duration::from_millis(until_now.try_into().unwrap()));
    let artifacts = in_bucket(&world, &bucket, world.clock.clone());
    let shared = SharedRepositories::of(&world.store, &artifacts).expect("shared repositories");
    let file = world.data.root().join("pack");
    let lease = shared.acquire(&acme).await.unwrap().expect("a lease");
    let mut packs = Vec::new();
    for text in ["recorded", "not recorded"] {
        std::fs::write(&file, text).unwrap();
        packs.push(shared.upload(&lease, PackFile { path: &file, name: text }).await.unwrap());
    }
    let first = RepositoryContents { packs: vec![packs.remove(0)], ..contents("a") };
    shared.record(&lease, 0, first.clone()).await.unwrap();
    world.clock.advance(Duration::from_hours(48));
    assert_eq!(shared.delete_unused(&lease, &first).await.unwrap(), 0, "the lease may still record it");
    shared.release(&lease).await.unwrap();
    let lease = shared.acquire(&acme).await.unwrap().expect("a lease");
    assert_eq!(shared.delete_unused(&lease, &first).await.unwrap(), 1);

    std::fs::write(&file, "one for all").unwrap();
    let pack = shared.upload(&lease, PackFile { path: &file, name: "one for all" }).await.unwrap();
    let replaced = vec![ReplacedPack { pack: first.packs[0].clone(), at: shared.now() }];
    let second = RepositoryContents { packs: vec![pack.clone()], replaced, ..contents("b") };
    let recorded = shared.record(&lease, 1, second).await.unwrap();
    shared.release(&lease).await.unwrap();
    let lease = shared.acquire(&acme).await.unwrap().expect("a lease");
    assert_eq!(shared.delete_unused(&lease, &recorded.contents).await.unwrap(), 0);
    world.clock.advance(Duration::from_hours(25));
    assert_eq!(shared.delete_unused(&lease, &recorded.contents).await.unwrap(), 1);
    let recorded = shared.record(&lease, 2, recorded.contents).await.unwrap();
    assert_eq!(recorded.contents.replaced, []);
    let to = world.data.root().join("downloaded");
    shared.download(&acme, &pack, &to).await.unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), b"one for all");
    let gone = shared.download(&acme, &first.packs[0], &world.data.root().join("gone")).await;
    assert!(matches!(gone, Err(Error::PackDamaged { .. })), "{gone:?}");
}

#[tokio::test]
async fn packs_that_the_bucket_has_lost_are_noted_and_stored_again() {
    let world = World::new().await;
    if !world.store.is_shared() {
        return;
    }
    let Some(bucket) = Bucket::create() else { return };
    let acme = world.organization("acme").await.organization;
    let artifacts = in_bucket(&world, &bucket, world.clock.clone());
    let shared = SharedRepositories::of(&world.store, &artifacts).expect("shared repositories");
    assert!(!world.store.repositories().has_shared_repositories().await.unwrap());
    let lease = shared.acquire(&acme).await.unwrap().expect("a lease");
    let [present, other] = ["present", "other"].map(|name| world.data.root().join(name));
    std::fs::write(&present, "objects").unwrap();
    std::fs::write(&other, "other objects").unwrap();
    let pack = shared.upload(&lease, PackFile { path: &present, name: "objects" }).await.unwrap();
    let found = RepositoryContents { packs: vec![pack.clone()], ..contents("a") };
    shared.record(&lease, 0, found.clone()).await.unwrap();
    assert!(world.store.repositories().has_shared_repositories().await.unwrap());
    assert_eq!(shared.find_missing(&acme, &found).await.unwrap(), []);
    let key = bucket.keys_with(&pack.path_of(&acme)).pop().expect("a pack");
    for spoil in [Bucket::damage, Bucket::remove] {
        spoil(&bucket, &key);
        let to = world.data.root().join("downloaded");
        let lost = shared.download(&acme, &pack, &to).await.unwrap_err();
        assert_eq!((lost.code(), matches!(lost, Error::PackDamaged { .. })), ("repository_damaged", true));
        let _ = std::fs::remove_file(&to);
        for _ in 0..2 {
            shared.note_damage(&acme, &pack).await.unwrap();
        }
        let damaged = shared.damaged().await.unwrap();
        assert_eq!(damaged.iter().map(|damaged| damaged.object.as_str()).collect::<Vec<_>>(), [pack.object_name()]);
        assert!(!shared.store_again(&acme, &pack, &other).await.unwrap(), "another file");
        assert!(!shared.store_again(&acme, &pack, &world.data.root().join("absent")).await.unwrap());
        assert!(shared.store_again(&acme, &pack, &present).await.unwrap());
        shared.clear_damage(&damaged[0]).await.unwrap();
        assert_eq!(shared.damaged().await.unwrap(), []);
        shared.download(&acme, &pack, &to).await.unwrap();
        std::fs::remove_file(&to).unwrap();
    }
    bucket.remove(&key);
    assert_eq!(shared.find_missing(&acme, &found).await.unwrap(), std::slice::from_ref(&pack));

    // A restored directory has the packs as files.
    let packs = world.data.restored_packs();
    let file = packs.join(pack.path_of(&acme));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::copy(&present, &file).unwrap();
    assert_eq!(shared.take_restored(&packs).await.unwrap(), 1);
    assert!(!packs.exists());
    assert_eq!(shared.take_restored(&packs).await.unwrap(), 0);
    assert_eq!(shared.find_missing(&acme, &found).await.unwrap(), []);
}
