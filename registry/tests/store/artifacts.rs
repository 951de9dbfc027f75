//! Artifacts: bytes by digest, in the data directory and in a bucket.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use registry::{Artifacts, BucketOptions, Clock, Digest, ErrorKind, Objects, StorageUrl, Timestamp};

use crate::bucket::Bucket;
use crate::fixtures::World;

/// More than the tests of one artifact need.
const CACHE_BYTES_MAX: u64 = 1 << 20;

const DAY: Duration = Duration::from_hours(24);

/// One place of artifacts.
struct Place {
    world: World,
    artifacts: Artifacts,
    bucket: Option<Bucket>,
    clock: Clock,
}

/// A data directory, and, with an S3 server, a bucket.
async fn places() -> Vec<Place> {
    // The clock of the S3 server shows the time of today.
    let clock = || Clock::fixed(Clock::system().now());
    let world = World::new().await;
    let artifacts = Artifacts::open(&world.data).unwrap();
    let mut places = vec![Place { world, artifacts, bucket: None, clock: clock() }];
    if let Some(bucket) = Bucket::create() {
        let (world, clock) = (World::new().await, clock());
        let artifacts = in_bucket(&world, &bucket, clock.clone());
        places.push(Place { world, artifacts, bucket: Some(bucket), clock });
    }
    places
}

pub fn in_bucket(world: &World, bucket: &Bucket, clock: Clock) -> Artifacts {
    let objects = connect(&bucket.url(), bucket.variables()).unwrap();
    Artifacts::in_bucket(&world.data, BucketOptions { objects, cache_bytes_max: CACHE_BYTES_MAX, clock }).unwrap()
}

pub fn connect(url: &str, variables: Vec<(String, String)>) -> registry::Result<Objects> {
    // Other tests of this process may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Objects::connect(StorageUrl::parse(url).unwrap(), variables)
}

impl Place {
    /// Changes one byte of the stored artifact, and of its copy in the cache.
    fn damage(&self, digest: &Digest) {
        self.damage_file(digest);
        if let Some(bucket) = &self.bucket {
            bucket.damage(&bucket.keys_with(&digest.to_hex())[0]);
        }
    }

    fn damage_file(&self, digest: &Digest) {
        let path = self.file(digest);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[0] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }

    /// The file of the artifact: in a bucket's place that of the cache.
    fn file(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_hex();
        let data = &self.world.data;
        let root = if self.bucket.is_some() { data.artifact_cache() } else { data.artifacts() };
        root.join(&name[..2]).join(&name)
    }

    /// Makes the artifact as old as if it had been stored two days ago.
    fn age(&self, digest: &Digest) {
        if self.bucket.is_some() {
            self.clock.advance(2 * DAY);
            return;
        }
        let milliseconds = u64::try_from(self.clock.now().as_milliseconds()).unwrap();
        let stored = std::time::UNIX_EPOCH + Duration::from_millis(milliseconds) - 2 * DAY;
        std::fs::File::options().append(true).open(self.file(digest)).unwrap().set_modified(stored).unwrap();
    }

    /// The time before which artifacts are old enough to be deleted.
    fn before(&self) -> Timestamp {
        let day = i64::try_from(DAY.as_millis()).unwrap();
        // A moment later, so that an object of this moment is not too young by the clock of the S3 server.
        Timestamp::from_milliseconds(self.clock.now().as_milliseconds() - day + 1_000)
    }

    async fn find_unused(&self, used: &[Digest]) -> Vec<Digest> {
        let used: HashSet<_> = used.iter().copied().collect();
        let unused = self.artifacts.find_unused(used, self.before()).await.unwrap();
        unused.into_iter().map(|artifact| artifact.digest).collect()
    }
}

#[tokio::test]
async fn bytes_are_read_by_their_digest() {
    for place in places().await {
        let artifacts = &place.artifacts;
        let digest = artifacts.put(b"component".to_vec()).await.unwrap();
        assert_eq!(digest, Digest::of(b"component"));
        assert_eq!(artifacts.put(b"component").await.unwrap(), digest);
        assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
        assert!(artifacts.contains(&digest).await.unwrap());
        assert!(artifacts.renew(&digest).await.unwrap());
    }
}

#[tokio::test]
async fn absent_bytes_are_absent() {
    for place in places().await {
        let (artifacts, digest) = (&place.artifacts, Digest::of(b"nothing"));
        assert_eq!(artifacts.get(&digest).await.unwrap(), None);
        assert!(!artifacts.contains(&digest).await.unwrap());
        assert!(!artifacts.renew(&digest).await.unwrap());
    }
}

#[tokio::test]
async fn parallel_publications_store_the_same_artifact() {
    for place in places().await {
        let puts = (0..8).map(|_| {
            let artifacts = place.artifacts.clone();
            tokio::spawn(async move { artifacts.put(b"component").await.unwrap() })
        });
        for put in puts.collect::<Vec<_>>() {
            assert_eq!(put.await.unwrap(), Digest::of(b"component"));
        }
        assert_eq!(place.artifacts.get(&Digest::of(b"component")).await.unwrap().unwrap(), b"component");
    }
}

#[tokio::test]
async fn damaged_bytes_are_refused_and_replaced_by_the_next_put() {
    for place in places().await {
        let artifacts = &place.artifacts;
        let digest = artifacts.put(b"component").await.unwrap();
        place.damage(&digest);
        let error = artifacts.get(&digest).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(&digest.to_hex()), "{error}");
        artifacts.put(b"component").await.unwrap();
        assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
        assert_eq!(std::fs::read_dir(place.file(&digest).parent().unwrap()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn old_artifacts_without_a_version_are_deleted() {
    for place in places().await {
        let artifacts = &place.artifacts;
        let (old, used) = (artifacts.put(b"old").await.unwrap(), artifacts.put(b"used").await.unwrap());
        place.age(&old);
        if place.bucket.is_none() {
            place.age(&used);
        }
        let young = artifacts.put(b"young").await.unwrap();
        assert_eq!(place.find_unused(&[used]).await, [old]);
        assert!(artifacts.delete_unused(&old, place.before()).await.unwrap());
        assert!(!artifacts.delete_unused(&young, place.before()).await.unwrap());
        assert!(!artifacts.contains(&old).await.unwrap());
        assert!(artifacts.contains(&used).await.unwrap() && artifacts.contains(&young).await.unwrap());
    }
}

/// `lathe gc` listed the artifact before a publication stored or renewed it.
#[tokio::test]
async fn what_a_publication_renews_meanwhile_is_not_deleted() {
    for is_stored_again in [true, false] {
        for place in places().await {
            let artifacts = &place.artifacts;
            let digest = artifacts.put(b"component").await.unwrap();
            place.age(&digest);
            assert_eq!(place.find_unused(&[]).await, [digest]);
            if is_stored_again {
                artifacts.put(b"component").await.unwrap();
            } else {
                assert!(artifacts.renew(&digest).await.unwrap());
            }
            assert!(!artifacts.delete_unused(&digest, place.before()).await.unwrap());
            assert_eq!(place.find_unused(&[]).await, []);
            assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
        }
    }
}

#[tokio::test]
async fn a_directory_with_the_name_of_an_artifact_is_renamed() {
    let world = World::new().await;
    let artifacts = Artifacts::open(&world.data).unwrap();
    let digest = artifacts.put(b"component").await.unwrap();
    let name = digest.to_hex();
    let path = world.data.artifacts().join(&name[..2]).join(&name);
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
