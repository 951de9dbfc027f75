//! This server's copy of a shared repository.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use registry::{RepositoryContents, RepositoryGeneration, StoredPack};

use super::{Sharing, packs, refs};
use crate::bare::{Repository, TrackedRepository, complete_repository};
use crate::blocking::blocking;
use crate::error::Error;
use crate::git::{UNFINISHED_PREFIX, remove_quarantines};

/// Attempts to bring a copy up to date while other servers change the repository, and delete packs that they replaced.
const ATTEMPTS_MAX: u32 = 5;

impl Sharing {
    /// Brings the copy up to date, unless it has the recorded generation. Returns whether the repository has contents.
    pub(crate) async fn refresh(&self, repository: &Repository) -> Result<bool, Error> {
        match self.records.generation(repository.organization()).await? {
            0 => Ok(false),
            number if number == read_generation(repository.tracked()) => Ok(true),
            _ => self.update(repository).await.map(|_| true),
        }
    }

    /// Brings the copy up to date, and returns what it contains.
    ///
    /// # Errors
    /// [`Error::UnknownRepository`] when the repository has no contents.
    pub(crate) async fn update(&self, repository: &Repository) -> Result<RepositoryGeneration, Error> {
        let _updating = repository.tracked().state.copy.updates.lock().await;
        let mut found = self.read(repository).await?;
        for _ in 1..ATTEMPTS_MAX {
            let Err(error) = self.bring_to(&found, repository).await else { return Ok(found) };
            let now = self.read(repository).await?;
            if now.number == found.number {
                return Err(error);
            }
            found = now;
        }
        self.bring_to(&found, repository).await.map(|()| found)
    }

    /// Brings the copy up to date even if it has the recorded generation, because packs of it are missing.
    pub(super) async fn renew(&self, repository: &Repository) -> Result<(), Error> {
        repository.tracked().state.copy.generation.store(0, Ordering::SeqCst);
        self.update(repository).await.map(drop)
    }

    /// Sets the copy to a generation that this server has just recorded, after the generation `before`.
    pub(super) async fn follow(
        &self,
        repository: &Repository,
        before: i64,
        after: &RepositoryGeneration,
    ) -> Result<(), Error> {
        let _updating = repository.tracked().state.copy.updates.lock().await;
        // Otherwise, a reader has updated the copy meanwhile, or the next one does.
        if read_generation(repository.tracked()) == before {
            set_refs(repository, after).await?;
        }
        Ok(())
    }

    /// Removes packs that are not part of the present generation, and the leftovers of pushes, unless they may be in use.
    pub(super) async fn tidy(&self, repository: &Repository, present: &RepositoryGeneration) -> Result<(), Error> {
        let _updating = repository.tracked().state.copy.updates.lock().await;
        if read_generation(repository.tracked()) == present.number {
            remove_unused(repository, &present.contents).await?;
        }
        Ok(())
    }

    async fn read(&self, repository: &Repository) -> Result<RepositoryGeneration, Error> {
        self.records.read(repository.organization()).await?.ok_or(Error::UnknownRepository)
    }

    async fn bring_to(&self, wanted: &RepositoryGeneration, repository: &Repository) -> Result<(), Error> {
        if read_generation(repository.tracked()) == wanted.number {
            return Ok(());
        }
        let (root, path) = (self.root.clone(), repository.tracked().path.clone());
        blocking(move || create(&root, &path)).await?;
        for pack in &wanted.contents.packs {
            if !packs::has(repository.path(), pack) {
                self.fetch(pack, repository).await?;
            }
        }
        set_refs(repository, wanted).await?;
        remove_unused(repository, &wanted.contents).await
    }

    /// Downloads a pack. Its digest comes from the database, so that its objects are those that a server has inspected.
    async fn fetch(&self, pack: &StoredPack, repository: &Repository) -> Result<(), Error> {
        let scratch = create_scratch(&self.root)?;
        let file = scratch.path().join("new.pack");
        if let Err(error) = self.records.download(repository.organization(), pack, &file).await {
            if matches!(error, registry::Error::PackDamaged { .. }) {
                self.ask_for_repair(repository, pack).await;
            }
            return Err(error.into());
        }
        packs::add(&self.commands, repository.path(), pack, &file).await
    }
}

/// A directory for unfinished files, which is removed with the value, or at the next start.
pub(super) fn create_scratch(root: &Path) -> Result<tempfile::TempDir, Error> {
    let created = tempfile::Builder::new().prefix(UNFINISHED_PREFIX).tempdir_in(root);
    created.map_err(Error::io("create a temporary directory"))
}

/// The generation of a copy, and 0 if this process has not compared it yet.
fn read_generation(tracked: &TrackedRepository) -> i64 {
    tracked.state.copy.generation.load(Ordering::SeqCst)
}

/// Creates an empty copy, unless there is one.
fn create(root: &Path, path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    let scratch = create_scratch(root)?;
    let made = scratch.path().join("repository");
    complete_repository(&made)?;
    fs::rename(&made, path).map_err(Error::io("put the copy of a repository in place"))
}

async fn set_refs(repository: &Repository, wanted: &RepositoryGeneration) -> Result<(), Error> {
    let (tracked, wanted) = (repository.tracked().clone(), wanted.clone());
    blocking(move || {
        refs::write(&tracked.path, &wanted.contents.refs).map_err(Error::io("write the refs of a repository"))?;
        tracked.state.copy.generation.store(wanted.number, Ordering::SeqCst);
        Ok(())
    })
    .await
}

/// Removes packs and leftovers while no push or build uses them.
async fn remove_unused(repository: &Repository, contents: &RepositoryContents) -> Result<(), Error> {
    let (tracked, contents) = (repository.tracked().clone(), contents.clone());
    blocking(move || {
        let Ok(_no_push) = tracked.state.pushes.try_write() else { return Ok(()) };
        remove_quarantines(&tracked.path);
        // A build that begins later reads a ref of the present generation.
        let held = tracked.state.lock_held();
        if held.is_empty() {
            packs::remove_others(&tracked.path, &contents).map_err(Error::io("remove packs of a repository"))?;
        }
        Ok(())
    })
    .await
}
