//! Copying artifacts and large bodies of recordings to a bucket.

use registry::{Artifacts, BucketOptions, DataDir, StorageUrl, StoreOptions};
use serde_json::json;
use tempfile::TempDir;

use super::part::Part;
use super::scratch::create_scratch;
use crate::output::{Spinner, render_table};
use crate::server::{self, ContentsCopy, ContentsKind, VerifiedContents};

const MEBIBYTE: u64 = 1 << 20;

/// The storage of an installation, and the bucket that receives its contents.
pub struct ContentsMove {
    source: Artifacts,
    target: Artifacts,
    url: StorageUrl,
    owner: String,
    _scratch: TempDir,
}

impl ContentsMove {
    /// Prepares a copy to a bucket. An installation that has a bucket keeps it. `None` without a bucket.
    pub fn open(options: &StoreOptions<'_>, named: Option<&StorageUrl>) -> anyhow::Result<Option<Self>> {
        let data = options.data;
        let recorded = server::read_recorded_storage(data.root())?;
        let Some(url) = named.or(recorded.as_ref()).cloned() else { return Ok(None) };
        if let Some(recorded) = recorded.as_ref().filter(|recorded| **recorded != url) {
            return Err(server::refuse_other_storage(data, recorded, &url));
        }
        // Nothing is cached, so that all contents are read from the bucket.
        let scratch = create_scratch()?;
        let bucket =
            BucketOptions { objects: server::connect(&url)?, cache_bytes_max: 0, clock: options.clock.clone() };
        let target = Artifacts::in_bucket(&DataDir::open(scratch.path())?, bucket)?;
        let source = if recorded.is_some() { target.clone() } else { Artifacts::open(data)? };
        Ok(Some(Self { source, target, url, owner: server::name_owner(options.keys), _scratch: scratch }))
    }

    pub fn target(&self) -> &Artifacts {
        &self.target
    }

    pub fn url(&self) -> &StorageUrl {
        &self.url
    }

    /// Counts contents, and changes nothing.
    pub async fn plan(&self) -> anyhow::Result<Vec<Part>> {
        if let Some(objects) = self.target.bucket() {
            objects.require_owner(&self.owner).await?;
        }
        let mut parts = Vec::new();
        for kind in [ContentsKind::Artifacts, ContentsKind::Bodies] {
            let (all, missing) = self.copy_of(kind).find_missing().await?;
            let bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
            parts.push(Part {
                key: key(kind),
                document: json!({"count": all.len(), "bytes": bytes, "missing": missing.len()}),
                text: format!("{}: {}, of which {} are to be copied", name(kind), all.len(), missing.len()),
            });
        }
        Ok(parts)
    }

    /// Copies what the bucket lacks, and reads everything back.
    pub async fn run(&self) -> anyhow::Result<Vec<Part>> {
        if let Some(objects) = self.target.bucket() {
            objects.claim(&self.owner).await?;
        }
        let mut parts = Vec::new();
        for kind in [ContentsKind::Artifacts, ContentsKind::Bodies] {
            let progress = Spinner::start("migrating");
            let copy = self.copy_of(kind);
            let name = name(kind);
            let copied = copy.copy(&|done, all| progress.show(format!("{name}: {done} of {all} copied"))).await?;
            progress.finish_step(format!("{name}: {copied} copied"));
            let verified = copy.verify(&|done, all| progress.show(format!("{name}: {done} of {all} compared"))).await?;
            progress.finish_step(format!("{name}: {} compared", verified.count));
            parts.push(build_part(kind, copied, &verified));
        }
        Ok(parts)
    }

    fn copy_of(&self, kind: ContentsKind) -> ContentsCopy<'_> {
        ContentsCopy { kind, from: &self.source, to: &self.target }
    }
}

fn build_part(kind: ContentsKind, copied: u64, verified: &VerifiedContents) -> Part {
    let VerifiedContents { count, bytes, digest, damaged } = verified;
    let row = [
        name(kind).to_owned(),
        count.to_string(),
        copied.to_string(),
        bytes.div_ceil(MEBIBYTE).to_string(),
        digest.to_string(),
    ];
    let mut text = render_table(["contents", "count", "copied", "MiB", "digest"], [row]);
    if *damaged > 0 {
        text += &format!("\nwarning: {damaged} {} of the data directory are damaged and were not copied", name(kind));
    }
    let document = json!({"count": count, "copied": copied, "bytes": bytes, "digest": digest, "damaged": damaged});
    Part { key: key(kind), document, text }
}

const fn name(kind: ContentsKind) -> &'static str {
    match kind {
        ContentsKind::Artifacts => "artifacts",
        ContentsKind::Bodies => "large bodies",
    }
}

const fn key(kind: ContentsKind) -> &'static str {
    match kind {
        ContentsKind::Artifacts => "artifacts",
        ContentsKind::Bodies => "large_bodies",
    }
}
