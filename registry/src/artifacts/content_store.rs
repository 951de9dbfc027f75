//! Artifacts: images, bundles and whole components, stored by digest in the data directory or in a bucket.
//!
//! Bytes are durable before [`Artifacts::put`] returns, and are compared with their digest whenever they are read.
//!
//! A publication stores its artifacts, or renews those that are stored already, and inserts its version after that. Only
//! artifacts that were stored and renewed longer ago than any publication takes are deleted, also beside a running server.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;

use super::bucket::ArtifactBucket;
use super::cache::ArtifactCache;
use super::directory::ArtifactDirectory;
use super::objects::Objects;
use super::recorded_bodies::RecordedBodies;
use super::unused_artifact::UnusedArtifact;
use crate::error::Result;
use crate::files::blocking::off_the_runtime;
use crate::files::data_dir::DataDir;
use crate::kit::clock::{Clock, Timestamp};
use crate::kit::digest::Digest;

/// The content-addressed store of an installation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Artifacts {
    location: Location,
    bodies: RecordedBodies,
}

#[derive(Clone, Debug)]
enum Location {
    Directory(ArtifactDirectory),
    Bucket(ArtifactBucket),
}

/// A bucket with artifacts, and the size of their cache in the data directory.
#[derive(Clone, Debug)]
pub struct BucketOptions {
    pub objects: Objects,
    pub cache_bytes_max: u64,
    pub clock: Clock,
}

impl Artifacts {
    /// Age that an artifact has at least when it is deleted: far more than a publication takes.
    pub const AGE_MIN: Duration = Duration::from_hours(24);

    /// Opens the artifacts in the data directory.
    pub fn open(data: &DataDir) -> Result<Self> {
        let bodies = RecordedBodies::Directory(ArtifactDirectory::open(data.recorded_bodies())?);
        Ok(Self { location: Location::Directory(ArtifactDirectory::open(data.artifacts())?), bodies })
    }

    /// Opens the artifacts in a bucket. Nothing is sent.
    pub fn in_bucket(data: &DataDir, options: BucketOptions) -> Result<Self> {
        let BucketOptions { objects, cache_bytes_max, clock } = options;
        let cache = ArtifactCache::open(data.artifact_cache(), cache_bytes_max)?;
        let bodies = RecordedBodies::Bucket { objects: objects.clone(), cache: cache.clone() };
        Ok(Self { location: Location::Bucket(ArtifactBucket { objects, cache, clock }), bodies })
    }

    /// The bucket that has the artifacts, unless they are in the data directory.
    pub const fn bucket(&self) -> Option<&Objects> {
        match &self.location {
            Location::Directory(_) => None,
            Location::Bucket(bucket) => Some(&bucket.objects),
        }
    }

    /// The large bodies of recordings, which are in the same directory or bucket.
    pub const fn bodies(&self) -> &RecordedBodies {
        &self.bodies
    }

    /// Stores the bytes durably. Bytes that are stored already are compared, and their time is renewed.
    pub async fn put(&self, bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Digest> {
        let bytes = Bytes::from_owner(bytes);
        let hashed = bytes.clone();
        let digest = off_the_runtime(move || Ok(Digest::of(&hashed))).await?;
        match &self.location {
            Location::Directory(directory) => directory.put(&digest, bytes).await,
            Location::Bucket(bucket) => bucket.put(&digest, bytes).await,
        }
        .map(|()| digest)
    }

    /// Reads the bytes of a digest. [`crate::Error::Corrupt`] when the stored bytes do not match the digest.
    pub async fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        match &self.location {
            Location::Directory(directory) => directory.get(digest).await,
            Location::Bucket(bucket) => bucket.get(digest).await,
        }
    }

    /// Renews the time of stored bytes. Returns whether they are stored.
    pub async fn renew(&self, digest: &Digest) -> Result<bool> {
        match &self.location {
            Location::Directory(directory) => directory.renew(digest).await,
            Location::Bucket(bucket) => bucket.renew(digest).await,
        }
    }

    pub async fn contains(&self, digest: &Digest) -> Result<bool> {
        match &self.location {
            Location::Directory(directory) => directory.contains(digest).await,
            Location::Bucket(bucket) => bucket.contains(digest).await,
        }
    }

    /// Lists the artifacts that are not among `used` and were neither stored nor renewed since `before`.
    pub async fn find_unused(&self, used: HashSet<Digest>, before: Timestamp) -> Result<Vec<UnusedArtifact>> {
        match &self.location {
            Location::Directory(directory) => directory.find_unused(used, before).await,
            Location::Bucket(bucket) => bucket.find_unused(&used, before).await,
        }
    }

    /// Deletes an artifact that was neither stored nor renewed since `before`. Returns whether it did.
    pub async fn delete_unused(&self, digest: &Digest, before: Timestamp) -> Result<bool> {
        match &self.location {
            Location::Directory(directory) => directory.delete_unused(digest, before).await,
            Location::Bucket(bucket) => bucket.delete_unused(digest, before).await,
        }
    }

    /// Deletes files and objects from before `before` that no artifact needs: temporary files of publications that were
    /// killed, and objects that a newer one of the same artifact replaces. Returns their number.
    pub async fn delete_unfinished(&self, before: Timestamp) -> Result<u64> {
        match &self.location {
            Location::Directory(directory) => directory.delete_unfinished(before).await,
            Location::Bucket(bucket) => bucket.delete_superseded(before).await,
        }
    }
}
