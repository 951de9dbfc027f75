//! Packs that are missing or damaged in the bucket: a server whose copy has one stores it again.
//!
//! A server that needs such a pack notes it in the database, and the others look for notes every few seconds. Each collection also
//! compares the bucket's list with the recorded packs, so that a lost pack is replaced before a server needs it. A copy that is
//! damaged itself gets its packs from the bucket.

use registry::{DamagedPack, SharedRepositories, StoredPack};

use super::{Sharing, packs};
use crate::bare::Repository;
use crate::error::Error;

impl Sharing {
    /// Stores a damaged pack again, if this server's copy has it.
    pub(crate) async fn repair(&self, repository: &Repository, damaged: &DamagedPack) -> Result<(), Error> {
        let found = self.records.read(repository.organization()).await?;
        let packs = found.into_iter().flat_map(|found| found.contents.packs);
        let Some(pack) = packs.into_iter().find(|pack| pack.object_name() == damaged.object) else {
            // A garbage collection has replaced it.
            return Ok(self.records.clear_damage(damaged).await?);
        };
        if self.store_again(repository, &pack).await? {
            self.records.clear_damage(damaged).await?;
        }
        Ok(())
    }

    /// Stores the packs again that the bucket lacks, and asks the other servers for those that this one does not have.
    pub(super) async fn replace_missing(&self, repository: &Repository) -> Result<(), Error> {
        let Some(found) = self.records.read(repository.organization()).await? else { return Ok(()) };
        for pack in self.records.find_missing(repository.organization(), &found.contents).await? {
            if !self.store_again(repository, &pack).await? {
                self.ask_for_repair(repository, &pack).await;
            }
        }
        Ok(())
    }

    /// Asks the servers that have a pack to store it again. The request that needs the pack fails.
    pub(super) async fn ask_for_repair(&self, repository: &Repository, pack: &StoredPack) {
        let organization = repository.organization();
        if let Err(error) = self.records.note_damage(organization, pack).await {
            tracing::warn!(%organization, %error, "other servers cannot be asked for a damaged pack");
        }
    }

    /// Fetches the packs again that are missing or damaged in this server's copy.
    pub(crate) async fn heal(&self, repository: &Repository) -> Result<(), Error> {
        let Some(found) = self.records.read(repository.organization()).await? else { return Ok(()) };
        for pack in &found.contents.packs {
            let file = packs::path_of(repository.path(), pack);
            if !SharedRepositories::is_whole(pack, &file).await? {
                tracing::warn!(organization = %repository.organization(), pack = pack.name, "a pack of the copy is fetched again");
                packs::remove(&file).map_err(Error::io("remove a damaged pack"))?;
            }
        }
        self.renew(repository).await
    }

    async fn store_again(&self, repository: &Repository, pack: &StoredPack) -> Result<bool, Error> {
        let organization = repository.organization();
        let is_stored = self.records.store_again(organization, pack, &packs::path_of(repository.path(), pack)).await?;
        if is_stored {
            tracing::warn!(%organization, pack = pack.object_name(), "a pack that the bucket had lost is stored again");
        }
        Ok(is_stored)
    }
}
