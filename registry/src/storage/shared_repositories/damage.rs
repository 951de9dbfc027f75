//! Packs that the bucket lacks, or that changed there, and their repair by a server that has a copy.

use std::collections::HashMap;
use std::path::Path;

use super::{SharedRepositories, build_folder, build_key, measure};
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::repositories::{DamagedPack, RepositoryContents, StoredPack};

/// Damaged packs that are read at once. The rest follows when these are repaired.
const DAMAGED_PACKS_MAX: i64 = 100;

impl SharedRepositories {
    /// Asks the servers that have a copy of a pack to store it again.
    pub async fn note_damage(&self, organization: &OrganizationId, pack: &StoredPack) -> Result<()> {
        let damaged = DamagedPack { organization: organization.clone(), object: pack.object_name() };
        self.store.repositories().note_damaged_pack(&damaged).await
    }

    /// Returns the packs that a server or a check has noted.
    pub async fn damaged(&self) -> Result<Vec<DamagedPack>> {
        self.store.repositories().damaged_packs(DAMAGED_PACKS_MAX).await
    }

    /// Removes a note.
    pub async fn clear_damage(&self, damaged: &DamagedPack) -> Result<()> {
        self.store.repositories().clear_damaged_pack(damaged).await
    }

    /// Returns the packs of the contents that the bucket lacks, or has with another size. Nothing is read.
    pub async fn find_missing(
        &self,
        organization: &OrganizationId,
        contents: &RepositoryContents,
    ) -> Result<Vec<StoredPack>> {
        let listed = self.objects.list(&build_folder(organization)).await?;
        let sizes: HashMap<String, u64> = listed.into_iter().map(|object| (object.key, object.bytes)).collect();
        let is_missing = |pack: &&StoredPack| sizes.get(&build_key(organization, pack)) != Some(&pack.bytes);
        Ok(contents.packs.iter().filter(is_missing).cloned().collect())
    }

    /// Stores a pack again from a file. Returns whether the file is the pack.
    pub async fn store_again(&self, organization: &OrganizationId, pack: &StoredPack, from: &Path) -> Result<bool> {
        if !Self::is_whole(pack, from).await? {
            return Ok(false);
        }
        self.objects.upload(from, &build_key(organization, pack)).await.map(|()| true)
    }

    /// Whether a file has the size and the digest of a pack.
    pub async fn is_whole(pack: &StoredPack, file: &Path) -> Result<bool> {
        match measure(file).await {
            Ok(measured) => Ok(measured == (pack.digest, pack.bytes)),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
