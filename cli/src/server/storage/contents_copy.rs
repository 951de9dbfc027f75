//! Copying artifacts and large bodies of recordings to a bucket, and reading them back.

use std::collections::{BTreeSet, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use registry::{Artifacts, Digest, Error, Timestamp};

/// Bodies that are sent or read at the same time. Each has some megabytes.
const PARALLEL_BODIES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentsKind {
    /// Sent one by one: the largest have some hundred megabytes.
    Artifacts,
    Bodies,
}

/// A copy of all artifacts, or of all bodies.
#[derive(Clone, Copy)]
pub struct ContentsCopy<'a> {
    pub kind: ContentsKind,
    pub from: &'a Artifacts,
    pub to: &'a Artifacts,
}

/// Contents that were read back, and are those of their digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedContents {
    pub count: u64,
    pub bytes: u64,
    /// The digest of all digests, in their order.
    pub digest: Digest,
    /// Contents that are damaged where they come from, and were not copied.
    pub damaged: u64,
}

/// Receives the number of contents that are done, and of all.
pub type ContentsObserver<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// A content: its digest and its size.
type Content = (Digest, u64);

impl ContentsCopy<'_> {
    /// Returns the contents, and those that are to be copied.
    pub async fn find_missing(&self) -> anyhow::Result<(Vec<Content>, Vec<Content>)> {
        let present: HashSet<Content> = self.list(self.to).await?.into_iter().collect();
        let all = self.list(self.from).await?;
        let missing = all.iter().filter(|content| !present.contains(*content)).copied().collect();
        Ok((all, missing))
    }

    /// Copies what is missing. Returns the number of contents that were copied.
    pub async fn copy(&self, report: ContentsObserver<'_>) -> anyhow::Result<u64> {
        let (_, missing) = self.find_missing().await?;
        let total = missing.len() as u64;
        let mut copies =
            stream::iter(missing).map(|(digest, _)| self.copy_one(digest)).buffer_unordered(self.parallel());
        let (mut done, mut copied) = (0, 0);
        while let Some(is_copied) = copies.try_next().await? {
            done += 1;
            copied += u64::from(is_copied);
            report(done, total);
        }
        Ok(copied)
    }

    /// Reads all contents back, and copies those again that are damaged.
    pub async fn verify(&self, report: ContentsObserver<'_>) -> anyhow::Result<VerifiedContents> {
        let all = self.list(self.from).await?;
        let total = all.len() as u64;
        let mut reads = stream::iter(all).map(|(digest, _)| self.verify_one(digest)).buffer_unordered(self.parallel());
        let (mut done, mut bytes, mut digests) = (0, 0, BTreeSet::new());
        while let Some(read) = reads.try_next().await? {
            done += 1;
            if let Some((digest, size)) = read {
                bytes += size;
                digests.insert(digest);
            }
            report(done, total);
        }
        let count = digests.len() as u64;
        let joined: Vec<u8> = digests.iter().flat_map(|digest| *digest.as_bytes()).collect();
        Ok(VerifiedContents { count, bytes, digest: Digest::of(&joined), damaged: done - count })
    }

    async fn verify_one(&self, digest: Digest) -> anyhow::Result<Option<Content>> {
        if let Some(size) = skip_damaged(self.get(self.to, &digest).await)? {
            return Ok(Some((digest, size.len() as u64)));
        }
        if !self.copy_one(digest).await? {
            return Ok(None);
        }
        let missing = || anyhow::anyhow!("{digest} was just stored, and is not there");
        let read = self.get(self.to, &digest).await?.ok_or_else(missing)?;
        Ok(Some((digest, read.len() as u64)))
    }

    /// Returns whether the content was copied. A damaged one is not.
    async fn copy_one(&self, digest: Digest) -> anyhow::Result<bool> {
        let Some(bytes) = skip_damaged(self.get(self.from, &digest).await)? else { return Ok(false) };
        match self.kind {
            ContentsKind::Artifacts => drop(self.to.put(bytes).await?),
            ContentsKind::Bodies => self.to.bodies().replace(&digest, bytes.into()).await?,
        }
        Ok(true)
    }

    async fn get(&self, of: &Artifacts, digest: &Digest) -> registry::Result<Option<Vec<u8>>> {
        match self.kind {
            ContentsKind::Artifacts => of.get(digest).await,
            ContentsKind::Bodies => of.bodies().get(digest).await,
        }
    }

    async fn list(&self, of: &Artifacts) -> registry::Result<Vec<Content>> {
        let everything = Timestamp::from_milliseconds(i64::MAX);
        Ok(match self.kind {
            ContentsKind::Artifacts => {
                let found = of.find_unused(HashSet::new(), everything).await?;
                found.into_iter().map(|artifact| (artifact.digest, artifact.bytes)).collect()
            }
            ContentsKind::Bodies => {
                let found = of.bodies().list(everything).await?;
                found.into_iter().map(|body| (body.digest, body.bytes)).collect()
            }
        })
    }

    const fn parallel(&self) -> usize {
        match self.kind {
            ContentsKind::Artifacts => 1,
            ContentsKind::Bodies => PARALLEL_BODIES,
        }
    }
}

/// Takes a damaged content as an absent one.
fn skip_damaged(read: registry::Result<Option<Vec<u8>>>) -> registry::Result<Option<Vec<u8>>> {
    match read {
        Err(error @ Error::Corrupt { .. }) => {
            tracing::warn!(%error, "contents are damaged");
            Ok(None)
        }
        other => other,
    }
}
