//! The first generation of a shared repository: the scaffold, or a repository from before it was shared.

use std::path::{Path, PathBuf};

use registry::{PackFile, RepositoryContents, Timestamp};

use super::copy::create_scratch;
use super::lease::HeldLease;
use super::packs::{Packer, Reach};
use super::{Sharing, refs};
use crate::bare::{Repository, write_repository};
use crate::blocking::blocking;
use crate::error::Error;
use crate::git::{Priority, write_settings};

/// Files of the first commit, and its time.
pub(crate) struct FirstCommit {
    pub files: Vec<(String, Vec<u8>)>,
    pub time: Timestamp,
}

impl Sharing {
    /// Creates a repository, unless there is one, and a copy of it.
    pub(crate) async fn create(&self, repository: &Repository, first: FirstCommit) -> Result<(), Error> {
        let lease = HeldLease::wait(&self.records, repository).await?;
        if self.records.generation(repository.organization()).await? == 0 {
            let scratch = create_scratch(&self.root)?;
            let made = scratch.path().join("repository");
            let at = made.clone();
            blocking(move || write_repository(&at, &first.files, first.time)).await?;
            self.record_first(&lease, &made).await?;
        }
        drop(lease);
        self.update(repository).await.map(drop)
    }

    /// Shares a repository of the data directory, unless the organisation has a shared one. Returns whether it is shared now.
    pub(crate) async fn adopt(&self, repository: &Repository) -> Result<bool, Error> {
        let Some(own) = self.own_of(repository) else { return Ok(false) };
        if self.records.generation(repository.organization()).await? != 0 {
            return Ok(false);
        }
        let lease = HeldLease::wait(&self.records, repository).await?;
        if self.records.generation(repository.organization()).await? != 0 {
            return Ok(false);
        }
        self.record_first(&lease, &own).await?;
        Ok(true)
    }

    /// The repository of the data directory, if the organisation has one.
    pub(super) fn own_of(&self, repository: &Repository) -> Option<PathBuf> {
        let own = self.own.join(repository.path().file_name()?);
        own.is_dir().then_some(own)
    }

    async fn record_first(&self, lease: &HeldLease, source: &Path) -> Result<(), Error> {
        let of = source.to_owned();
        let refs = blocking(move || {
            write_settings(&of).map_err(Error::io("write the repository's settings"))?;
            refs::read(&of).map_err(Error::git("read the refs of a repository"))
        })
        .await?;
        let scratch = create_scratch(&self.root)?;
        let packer = Packer { commands: &self.commands, repository: source, directory: scratch.path().to_owned() };
        let commits = refs.values().map(String::as_str).collect();
        let pack = packer.pack(Reach { commits, without: Vec::new() }, Priority::Normal).await?;
        let mut contents = RepositoryContents { refs, ..RepositoryContents::default() };
        if let Some(pack) = pack {
            let file = PackFile { path: &pack.path, name: &pack.name };
            contents.packs.push(self.records.upload(lease.lease(), file).await?);
        }
        self.records.record(lease.lease(), 0, contents).await?;
        Ok(())
    }
}
