//! A change of a shared repository, under its lease.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use registry::{PackFile, RepositoryContents, RepositoryGeneration};
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::timeout;

use super::lease::HeldLease;
use super::packs::{NewPack, Packer, Reach};
use super::refs::{Refs, has_rewritten};
use super::{Sharing, Staging};
use crate::bare::{Repository, pin_reference};
use crate::blocking::blocking;
use crate::commits::CommitId;
use crate::error::Error;
use crate::git::Priority;

/// Time that a change waits until unused packs are removed.
const TIDY_WAIT_MAX: Duration = Duration::from_secs(30);

/// A change that has begun: the lease is held, and the copy is up to date.
#[derive(Debug)]
pub(crate) struct Change {
    pub(super) sharing: Sharing,
    pub(super) repository: Repository,
    pub(super) lease: HeldLease,
    pub(super) present: RepositoryGeneration,
    /// Keeps packs that are not recorded yet.
    objects: OwnedRwLockReadGuard<()>,
}

impl Sharing {
    /// Waits for the lease, and brings the copy up to date.
    pub(crate) async fn change(&self, repository: &Repository) -> Result<Change, Error> {
        let lease = HeldLease::wait(&self.records, repository).await?;
        self.begin(repository, lease).await
    }

    pub(super) async fn begin(&self, repository: &Repository, lease: HeldLease) -> Result<Change, Error> {
        let pushes = Arc::clone(&repository.tracked().state.pushes);
        let objects = timeout(TIDY_WAIT_MAX, pushes.read_owned()).await.map_err(|_| Error::Changing)?;
        let present = self.update(repository).await?;
        Ok(Change { sharing: self.clone(), repository: repository.clone(), lease, present, objects })
    }

    /// Keeps a commit under a ref, whatever happens to its branch.
    ///
    /// # Errors
    /// [`Error::PinTaken`] if the name keeps another commit.
    pub(crate) async fn pin(&self, repository: &Repository, commit: &CommitId, name: &str) -> Result<(), Error> {
        let (reference, id) = (pin_reference(name)?, commit.to_string());
        let change = self.change(repository).await?;
        match change.present.contents.refs.get(&reference) {
            Some(kept) if *kept == id => return Ok(()),
            Some(kept) => {
                let kept = CommitId::parse(kept).map_err(|_| Error::UnknownCommit { commit: *commit })?;
                return Err(Error::PinTaken { name: name.to_owned(), kept });
            }
            None => {}
        }
        let (of, pinned) = (repository.clone(), *commit);
        blocking(move || of.require_commit(&pinned)).await?;
        let mut refs = change.present.contents.refs.clone();
        refs.insert(reference, id);
        change.record(refs).await
    }
}

impl Change {
    /// Prepares a push.
    pub(crate) async fn stage(&self) -> Result<Staging, Error> {
        let (root, copy) = (self.sharing.root.clone(), self.repository.tracked().path.clone());
        let refs = self.present.contents.refs.clone();
        blocking(move || Staging::create(&root, &copy, &refs)).await
    }

    /// Records the refs that a push has moved. `is_complete` is false for a push that git did not finish.
    pub(crate) async fn record_push(self, staging: Staging, is_complete: bool) -> Result<(), Error> {
        let refs = blocking(move || staging.read_refs()).await?;
        match refs == self.present.contents.refs {
            true => Ok(()),
            false if is_complete => self.record(refs).await,
            false => Err(Error::BackendReply { detail: "it ended before the push was complete" }),
        }
    }

    /// Stores the objects that the refs reach and no pack has, then records refs and pack.
    async fn record(self, refs: Refs) -> Result<(), Error> {
        let old = &self.present.contents.refs;
        let known: HashSet<&str> = old.values().map(String::as_str).collect();
        let is_new = |commit: &&str| !known.contains(commit);
        let moved = refs.iter().filter(|(name, commit)| old.get(*name) != Some(commit));
        let commits = moved.map(|(_, commit)| commit.as_str()).filter(is_new).collect();
        let packer = Packer::of(&self.sharing.commands, self.repository.path());
        let pack = packer.pack(Reach { commits, without: known.iter().copied().collect() }, Priority::Normal).await?;
        let mut contents = RepositoryContents { refs, ..self.present.contents.clone() };
        // A branch that was deleted and pushed again has a pack already.
        let is_stored = |pack: &NewPack| self.present.contents.packs.iter().any(|stored| stored.name == pack.name);
        if let Some(pack) = pack.filter(|pack| !is_stored(pack)) {
            let file = PackFile { path: &pack.path, name: &pack.name };
            contents.packs.push(self.sharing.records.upload(self.lease.lease(), file).await?);
        }
        self.replace(contents).await
    }

    /// Records the contents, and follows with the copy.
    pub(super) async fn replace(self, contents: RepositoryContents) -> Result<(), Error> {
        let Self { sharing, repository, lease, present, objects } = self;
        let recorded = sharing.records.record(lease.lease(), present.number, contents).await?;
        drop(lease);
        // From here on the change is made. The next reader repeats what fails.
        let followed = async {
            note_garbage(&repository, present.contents.refs, recorded.contents.refs.clone()).await?;
            sharing.follow(&repository, present.number, &recorded).await?;
            drop(objects);
            sharing.tidy(&repository, &recorded).await
        };
        if let Err(error) = followed.await {
            tracing::warn!(organization = %repository.organization(), %error, "the copy of a repository is updated later");
        }
        Ok(())
    }
}

async fn note_garbage(repository: &Repository, old: Refs, new: Refs) -> Result<(), Error> {
    let tracked = repository.tracked().clone();
    blocking(move || {
        // An unreadable repository may have garbage.
        if has_rewritten(&tracked.path, &old, &new).unwrap_or(true) {
            tracked.state.note_rewrite();
        }
        Ok(())
    })
    .await
}
