//! The packs in a backup, and their return to a bucket after a restore.

use std::path::Path;

use super::SharedRepositories;
use crate::error::Result;
use crate::files::durable::add_path;
use crate::kit::account::OrganizationId;
use crate::repositories::StoredPack;

/// A pack that the row of a repository names.
#[derive(Clone, Debug)]
pub struct NamedPack {
    pub pack: StoredPack,
    /// Whether the repository has it now. Otherwise a garbage collection replaced it less than a day ago, and a dump of the
    /// database from before may name it.
    pub is_current: bool,
}

impl SharedRepositories {
    /// Lists the packs that a backup of a repository needs. `None` for a repository without contents.
    pub async fn named_packs(&self, organization: &OrganizationId) -> Result<Option<Vec<NamedPack>>> {
        let Some(found) = self.store.repositories().repository(organization).await? else { return Ok(None) };
        let before = self.compute_replaced_after();
        let current = found.contents.packs.into_iter().map(|pack| NamedPack { pack, is_current: true });
        let replaced = found.contents.replaced.into_iter().filter(|replaced| replaced.at >= before);
        let replaced = replaced.map(|replaced| NamedPack { pack: replaced.pack, is_current: false });
        Ok(Some(current.chain(replaced).collect()))
    }

    /// Moves the packs of a restored data directory to the bucket, and removes the directory. Returns their number.
    ///
    /// A pack replaces what the bucket has in its place, which may be damaged.
    pub async fn take_restored(&self, packs: &Path) -> Result<u64> {
        if !packs.is_dir() {
            return Ok(0);
        }
        let mut taken = 0;
        for organization in self.organizations().await? {
            for NamedPack { pack, .. } in self.named_packs(&organization).await?.unwrap_or_default() {
                let file = packs.join(pack.path_of(&organization));
                taken += u64::from(self.store_again(&organization, &pack, &file).await?);
            }
        }
        add_path(packs, std::fs::remove_dir_all(packs))?;
        Ok(taken)
    }
}
