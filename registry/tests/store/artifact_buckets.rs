//! Artifacts in a bucket: its cache, its objects of several days, and buckets that fail.

use std::path::Path;
use std::time::Duration;

use registry::{Artifacts, BucketOptions, Clock, Digest, ErrorKind, Objects, Timestamp};

use crate::artifacts::{connect, in_bucket};
use crate::bucket::Bucket;
use crate::fixtures::World;

const DAY: Duration = Duration::from_hours(24);

/// A bucket and a world whose clock shows the time of the S3 server. `None` without an S3 server.
async fn place() -> Option<(Bucket, World, Clock)> {
    let bucket = Bucket::create()?;
    Some((bucket, World::new().await, Clock::fixed(Clock::system().now())))
}

fn cached(world: &World) -> u64 {
    let size = |path: &Path| path.metadata().unwrap().len();
    let folders = std::fs::read_dir(world.data.artifact_cache()).unwrap().map(|folder| folder.unwrap().path());
    folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|file| size(&file.unwrap().path())).sum()
}

#[tokio::test]
async fn artifacts_survive_the_loss_of_the_cache() {
    let Some((bucket, world, clock)) = place().await else { return };
    let artifacts = in_bucket(&world, &bucket, clock.clone());
    let digest = artifacts.put(b"component").await.unwrap();
    std::fs::remove_dir_all(world.data.artifact_cache()).unwrap();
    let artifacts = in_bucket(&world, &bucket, clock);
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    assert_eq!(cached(&world), 9);
    // What is cached needs no bucket.
    bucket.delete();
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
}

#[tokio::test]
async fn a_damaged_file_of_the_cache_is_fetched_again() {
    let Some((bucket, world, clock)) = place().await else { return };
    let artifacts = in_bucket(&world, &bucket, clock);
    let digest = artifacts.put(b"component").await.unwrap();
    let name = digest.to_hex();
    let path = world.data.artifact_cache().join(&name[..2]).join(&name);
    for damaged in [&b"componenT"[..], b"", b"component and more"] {
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
        assert_eq!(std::fs::read(&path).unwrap(), b"component");
    }
}

#[tokio::test]
async fn the_least_recently_used_artifacts_leave_the_cache() {
    let Some((bucket, world, clock)) = place().await else { return };
    let objects = connect(&bucket.url(), bucket.variables()).unwrap();
    let options = BucketOptions { objects, cache_bytes_max: 250, clock };
    let artifacts = Artifacts::in_bucket(&world.data, options).unwrap();
    let put = async |byte: u8, count: usize| artifacts.put(vec![byte; count]).await.unwrap();
    let file = |digest: &Digest| {
        let name = digest.to_hex();
        world.data.artifact_cache().join(&name[..2]).join(&name)
    };
    let (first, second) = (put(1, 100).await, put(2, 100).await);
    for (digest, hours) in [(first, 2), (second, 1)] {
        let file = std::fs::File::options().append(true).open(file(&digest)).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() - Duration::from_hours(hours)).unwrap();
    }
    artifacts.get(&first).await.unwrap().unwrap();
    let third = put(3, 100).await;
    assert_eq!([first, second, third].map(|digest| file(&digest).is_file()), [true, false, true]);
    // One that is larger than the cache drives nothing out.
    let large = put(4, 251).await;
    assert_eq!(cached(&world), 200);
    for (digest, byte) in [(first, 1), (second, 2), (third, 3), (large, 4)] {
        assert_eq!(artifacts.get(&digest).await.unwrap().unwrap()[0], byte);
        assert!(cached(&world) <= 250);
    }
}

#[tokio::test]
async fn a_publication_of_a_later_day_creates_an_object_of_that_day() {
    let Some((bucket, world, clock)) = place().await else { return };
    let artifacts = in_bucket(&world, &bucket, clock.clone());
    let digest = artifacts.put(b"component").await.unwrap();
    let first = bucket.keys();
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].starts_with("some/prefix/artifacts/") && first[0].contains(&digest.to_hex()), "{first:?}");
    artifacts.put(b"component").await.unwrap();
    artifacts.renew(&digest).await.unwrap();
    assert_eq!(bucket.keys(), first);
    clock.advance(DAY);
    artifacts.renew(&digest).await.unwrap();
    clock.advance(DAY);
    artifacts.put(b"component").await.unwrap();
    assert_eq!(bucket.keys().len(), 3);

    // A damaged object of the last day is not what is read, and the others are kept because of it.
    let last = bucket.keys().pop().unwrap();
    bucket.damage(&last);
    std::fs::remove_dir_all(world.data.artifact_cache()).unwrap();
    let artifacts = in_bucket(&world, &bucket, clock.clone());
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    let hour_ago = Timestamp::from_milliseconds(clock.now().as_milliseconds() - 3_600_000);
    assert_eq!(artifacts.delete_unfinished(hour_ago).await.unwrap(), 0);
    artifacts.put(b"component").await.unwrap();
    let midday = clock.now().after(Duration::from_hours(36));
    assert_eq!(artifacts.delete_unfinished(midday).await.unwrap(), 2);
    assert_eq!(bucket.keys(), [last]);
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
}

#[tokio::test]
async fn a_bucket_that_is_gone_is_no_absent_artifact() {
    let Some((bucket, world, clock)) = place().await else { return };
    let artifacts = in_bucket(&world, &bucket, clock);
    let digest = Digest::of(b"component");
    bucket.delete();
    let objects = connect(&bucket.url(), bucket.variables()).unwrap();
    let errors = [
        objects.get("key").await.unwrap_err(),
        objects.copy("key", "another").await.unwrap_err(),
        objects.delete("key").await.unwrap_err(),
        objects.check().await.unwrap_err(),
        artifacts.get(&digest).await.unwrap_err(),
        artifacts.put(b"component").await.unwrap_err(),
        artifacts.renew(&digest).await.unwrap_err(),
        artifacts.contains(&digest).await.unwrap_err(),
        artifacts.find_unused([].into(), Timestamp::default()).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "storage_failing"), "{error}");
        let message = format!("{}: the bucket `{}` does not exist. Create it", bucket.url(), bucket.name);
        assert!(error.to_string().contains(&message), "{error}");
    }
}

#[tokio::test]
async fn a_bucket_that_is_read_only_can_be_read() {
    let Some((bucket, world, clock)) = place().await else { return };
    let digest = in_bucket(&world, &bucket, clock.clone()).put(b"component").await.unwrap();
    std::fs::remove_dir_all(world.data.artifact_cache()).unwrap();
    let objects = connect(&bucket.url(), bucket.read_only_variables()).unwrap();
    let options = BucketOptions { objects, cache_bytes_max: 100, clock };
    let artifacts = Artifacts::in_bucket(&world.data, options).unwrap();
    assert_eq!(artifacts.get(&digest).await.unwrap().unwrap(), b"component");
    let error = artifacts.put(b"another").await.unwrap_err();
    assert_eq!(error.code(), "storage_failing");
    assert!(error.to_string().contains("no permission to write objects. Give the credentials"), "{error}");
    let all = Timestamp::from_milliseconds(i64::MAX);
    let error = artifacts.delete_unused(&digest, all).await.unwrap_err();
    assert!(error.to_string().contains("no permission to delete objects"), "{error}");
    assert_eq!(bucket.keys().len(), 1);
}

#[tokio::test]
async fn a_bucket_is_checked_before_it_is_used() {
    let Some(bucket) = Bucket::create() else { return };
    let with = |name: &str, value: &str| {
        let mut variables = bucket.variables();
        variables.iter_mut().filter(|(found, _)| found == name).for_each(|found| found.1 = value.to_owned());
        variables
    };
    let refused = async |objects: registry::Result<Objects>| {
        let error = objects.unwrap().claim("one").await.unwrap_err();
        assert_eq!(error.code(), "storage_unusable", "{error}");
        error.to_string()
    };
    let url = bucket.url();
    let message = refused(connect("s3://nowhere/prefix", bucket.variables())).await;
    assert_eq!(
        message,
        "s3://nowhere/prefix cannot be the storage: the bucket `nowhere` does not exist. Create it, or correct the URL"
    );
    for (name, value) in [("AWS_ACCESS_KEY_ID", "AKIANOBODY"), ("AWS_SECRET_ACCESS_KEY", "wrong")] {
        let message = refused(connect(&url, with(name, value))).await;
        assert!(message.contains("refuses the credentials. Correct AWS_ACCESS_KEY_ID and"), "{message}");
        assert!(!message.contains("wrong"), "{message}");
    }
    let message = refused(connect(&url, bucket.read_only_variables())).await;
    assert!(message.contains("no permission to write objects. Give"), "{message}");
    // Nothing listens on this port.
    let message = refused(connect(&url, with("AWS_ENDPOINT_URL", "http://127.0.0.1:1"))).await;
    assert!(message.contains("Check that the service is reachable"), "{message}");
    assert_eq!(bucket.keys(), [""; 0]);

    let objects = connect(&url, bucket.variables()).unwrap();
    objects.claim("one").await.unwrap();
    objects.claim("one").await.unwrap();
    let message = objects.claim("another").await.unwrap_err().to_string();
    assert!(message.contains("belongs to an installation with another master key. Use another prefix"), "{message}");
    objects.replace("lathe/format", "lathe storage 2\n".into()).await.unwrap();
    let message = refused(Ok(objects)).await;
    assert!(message.contains("newer release"), "{message}");
}
