//! Garbage collection of a shared repository: one pack with all objects that a ref reaches replaces the packs.
//!
//! One server collects, under the lease. The others fetch the pack when they bring their copies up to date, and keep the old packs
//! while a build holds a commit.

use registry::{PackFile, ReplacedPack, RepositoryContents};

use super::Sharing;
use super::change::Change;
use super::lease::HeldLease;
use super::packs::{Packer, Reach};
use crate::bare::{Repository, Usage, measure_usage};
use crate::blocking::blocking;
use crate::error::Error;
use crate::git::Priority;

/// Packs of a repository that are not worth a collection. Each push makes one, and each read searches all.
const PACKS_MAX: usize = 50;
/// Packs after which a push waits for a collection. A server with an empty data directory fetches each with a request of its own.
const PUSHED_PACKS_MAX: usize = 200;

impl Sharing {
    /// Collects a repository if it is worth it and no change is under way, and deletes packs that are not needed any more.
    pub(crate) async fn collect(&self, repository: &Repository) -> Result<(), Error> {
        if !repository.path().is_dir() || !self.refresh(repository).await? {
            return Ok(());
        }
        self.replace_missing(repository).await?;
        let Some(lease) = HeldLease::take(&self.records, repository).await? else { return Ok(()) };
        let change = self.begin(repository, lease).await?;
        let deleted = self.records.delete_unused(change.lease.lease(), &change.present.contents).await?;
        if deleted > 0 {
            tracing::info!(organization = %repository.organization(), deleted, "unused packs of a repository are deleted");
        }
        let packs = change.present.contents.packs.len();
        if packs > PACKS_MAX || (packs > 0 && repository.tracked().state.is_rewritten()) {
            change.collect(Priority::Low).await?;
        }
        Ok(())
    }
}

impl Change {
    /// Whether a push of at most `incoming_bytes` waits for a collection.
    pub(crate) async fn needs_collection(&self, incoming_bytes: u64, bytes_max: u64) -> bool {
        let packs = self.present.contents.packs.len();
        let bytes = measure(&self.repository).await.bytes;
        let is_near = bytes.saturating_add(incoming_bytes) > bytes_max;
        let may_help = self.repository.tracked().state.may_free_space(Usage { bytes, packs }, bytes_max);
        packs > PUSHED_PACKS_MAX || (is_near && may_help)
    }

    /// Replaces the packs by one.
    pub(crate) async fn collect(self, priority: Priority) -> Result<(), Error> {
        let repository = self.repository.clone();
        let RepositoryContents { refs, packs, replaced } = self.present.contents.clone();
        let packer = Packer::of(&self.sharing.commands, repository.path());
        let commits = refs.values().map(String::as_str).collect();
        let pack = packer.pack(Reach { commits, without: Vec::new() }, priority).await?;
        let Some(pack) = pack.filter(|pack| !matches!(&packs[..], [only] if only.name == pack.name)) else {
            repository.tracked().state.note_collection(measure(&repository).await);
            return Ok(());
        };
        let records = self.sharing.records.clone();
        let stored = records.upload(self.lease.lease(), PackFile { path: &pack.path, name: &pack.name }).await?;
        let (count, at) = (packs.len(), records.now());
        let replaced = replaced.into_iter().chain(packs.into_iter().map(|pack| ReplacedPack { pack, at })).collect();
        self.replace(RepositoryContents { refs, packs: vec![stored], replaced }).await?;
        repository.tracked().state.note_collection(measure(&repository).await);
        tracing::info!(organization = %repository.organization(), packs = count, "the packs of a repository are replaced by one");
        Ok(())
    }
}

/// The size of a copy, and 0 if it cannot be measured. The hook, which measures again, decides on a push.
async fn measure(repository: &Repository) -> Usage {
    let path = repository.tracked().path.clone();
    blocking(move || Ok(measure_usage(&path).unwrap_or_default())).await.unwrap_or_default()
}
