//! Artifacts in a bucket, with a local cache.
//!
//! The key of an object has the day on which it was created ([`super::object_keys`]). A publication creates an object of the
//! present day, unless there is one, and never changes an object of an earlier day. So an object that is old enough to be
//! deleted stays old, and a deletion that arrives late, or is tried again, cannot hit what a publication relies on: that
//! publication has an object with another key. Buckets have no renaming, with which a directory ensures the same.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;

use super::cache::ArtifactCache;
use super::object_keys::{ArtifactCopy, FOLDER, build_folder, build_key, to_day};
use super::objects::Objects;
use super::unused_artifact::UnusedArtifact;
use crate::error::{Error, Result};
use crate::files::blocking::off_the_runtime;
use crate::kit::clock::{Clock, Timestamp};
use crate::kit::digest::Digest;

/// Attempts to create an object while others create or delete the same one.
const CREATE_ATTEMPTS_MAX: u32 = 3;

/// Artifacts of a bucket; cheap to clone.
#[derive(Clone, Debug)]
pub struct ArtifactBucket {
    pub objects: Objects,
    pub cache: ArtifactCache,
    pub clock: Clock,
}

impl ArtifactBucket {
    /// Creates the object of the present day, or compares it.
    pub async fn put(&self, digest: &Digest, bytes: Bytes) -> Result<()> {
        let key = build_key(digest, to_day(self.clock.now()));
        for _ in 0..CREATE_ATTEMPTS_MAX {
            let is_stored = match self.objects.get(&key).await? {
                Some(stored) if is_of(digest, &stored).await? => true,
                // A damaged object is replaced.
                Some(_) => self.objects.replace(&key, bytes.clone()).await.map(|()| true)?,
                None => self.objects.create(&key, bytes.clone()).await?,
            };
            if is_stored {
                self.cache.insert(digest, bytes).await;
                return Ok(());
            }
            // Another publication has created the object meanwhile: the next attempt compares it.
        }
        Err(Error::StorageFailing {
            detail: format!("{}: {key} cannot be created, and is not there. Try again", self.objects.url()),
        })
    }

    /// Reads the newest object that has the digest, unless the artifact is cached.
    pub async fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        if let Some(bytes) = self.cache.get(digest).await {
            return Ok(Some(bytes));
        }
        let mut damaged = None;
        for copy in self.list_copies(digest).await? {
            let key = copy.key();
            let Some(bytes) = self.objects.get(&key).await? else { continue };
            if is_of(digest, &bytes).await? {
                self.cache.insert(digest, bytes.clone()).await;
                return Ok(Some(bytes.into()));
            }
            damaged = Some(key);
        }
        damaged.map_or(Ok(None), |key| {
            let detail = format!("the contents of {}/{key} do not match its digest", self.objects.url());
            Err(Error::Corrupt { what: "artifact", detail })
        })
    }

    /// Copies the newest object to one of today, unless there is one.
    pub async fn renew(&self, digest: &Digest) -> Result<bool> {
        let today = to_day(self.clock.now());
        match self.list_copies(digest).await?.first() {
            None => Ok(false),
            Some(copy) if copy.day >= today => Ok(true),
            Some(copy) => self.objects.copy(&copy.key(), &build_key(digest, today)).await,
        }
    }

    pub async fn contains(&self, digest: &Digest) -> Result<bool> {
        Ok(!self.list_copies(digest).await?.is_empty())
    }

    pub async fn find_unused(&self, used: &HashSet<Digest>, before: Timestamp) -> Result<Vec<UnusedArtifact>> {
        let artifacts = self.list_all_copies().await?;
        let unused = artifacts
            .into_iter()
            .filter(|(digest, copies)| !used.contains(digest) && copies.iter().all(|copy| copy.ended_before(before)));
        let sum = |copies: Vec<ArtifactCopy>| copies.iter().map(|copy| copy.bytes).sum();
        Ok(unused.map(|(digest, copies)| UnusedArtifact { digest, bytes: sum(copies) }).collect())
    }

    /// Deletes the objects of an artifact, if all of them are old.
    pub async fn delete_unused(&self, digest: &Digest, before: Timestamp) -> Result<bool> {
        let copies = self.list_copies(digest).await?;
        if copies.is_empty() || !copies.iter().all(|copy| copy.ended_before(before)) {
            return Ok(false);
        }
        for copy in copies {
            self.objects.delete(&copy.key()).await?;
        }
        Ok(true)
    }

    /// Deletes the older objects of artifacts that have a newer, undamaged one. Returns their number.
    pub async fn delete_superseded(&self, before: Timestamp) -> Result<u64> {
        self.cache.delete_unfinished(before).await;
        let mut deleted = 0;
        for (digest, copies) in self.list_all_copies().await? {
            let Some((newest, older)) = copies.split_first() else { continue };
            let older: Vec<_> = older.iter().filter(|copy| copy.ended_before(before)).collect();
            if older.is_empty() {
                continue;
            }
            let Some(bytes) = self.objects.get(&newest.key()).await? else { continue };
            if !is_of(&digest, &bytes).await? {
                tracing::warn!(key = newest.key(), "an artifact is damaged in the bucket; its older objects are kept");
                continue;
            }
            for copy in older {
                self.objects.delete(&copy.key()).await?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// The copies of an artifact, the newest first.
    async fn list_copies(&self, digest: &Digest) -> Result<Vec<ArtifactCopy>> {
        let listed = self.objects.list(&build_folder(digest)).await?;
        let mut copies: Vec<_> = listed.iter().filter_map(ArtifactCopy::of).collect();
        copies.sort_unstable_by_key(|copy| std::cmp::Reverse(copy.day));
        Ok(copies)
    }

    /// The copies of all artifacts, the newest first.
    async fn list_all_copies(&self) -> Result<BTreeMap<Digest, Vec<ArtifactCopy>>> {
        let mut artifacts = BTreeMap::<_, Vec<_>>::new();
        for copy in self.objects.list(FOLDER).await?.iter().filter_map(ArtifactCopy::of) {
            artifacts.entry(copy.digest).or_default().push(copy);
        }
        artifacts.values_mut().for_each(|copies| copies.sort_unstable_by_key(|copy| std::cmp::Reverse(copy.day)));
        Ok(artifacts)
    }
}

async fn is_of(digest: &Digest, bytes: &Bytes) -> Result<bool> {
    let (digest, bytes) = (*digest, bytes.clone());
    off_the_runtime(move || Ok(Digest::of(&bytes) == digest)).await
}
