//! The packs of repositories that servers share.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;

use registry::{NamedPack, OrganizationId, SharedRepositories};
use repository::repository_directory;

use super::BackupSource;
use super::directory::BackupDirectory;
use crate::backup::pack_file;
use crate::output::Spinner;

impl BackupSource {
    /// Copies the packs that the rows of shared repositories name. A pack that the bucket itself has lost is no reason to back up
    /// nothing.
    pub(super) async fn copy_packs(&self, backup: &mut BackupDirectory, progress: &Spinner) -> anyhow::Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        for organization in shared.organizations().await? {
            let Some(packs) = shared.named_packs(&organization).await? else { continue };
            progress.show(format!("packs of the repository of {organization}"));
            let copy = PackCopy { shared, organization: &organization };
            for pack in packs {
                copy.copy(&pack, backup).await?;
            }
            backup.manifest.counts.repositories += 1;
        }
        backup.manifest.counts.packs_lost = backup.manifest.lost_packs.len() as u64;
        Ok(())
    }

    /// The directories of repositories from before they were shared. Their contents are old.
    pub(super) async fn list_shared_directories(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut directories = BTreeSet::new();
        let Some(shared) = &self.shared else { return Ok(directories) };
        for organization in shared.organizations().await? {
            if shared.generation(&organization).await? > 0 {
                directories.insert(repository_directory(&organization));
            }
        }
        Ok(directories)
    }
}

/// The repository whose packs are copied.
struct PackCopy<'a> {
    shared: &'a SharedRepositories,
    organization: &'a OrganizationId,
}

impl PackCopy<'_> {
    async fn copy(&self, NamedPack { pack, .. }: &NamedPack, backup: &mut BackupDirectory) -> anyhow::Result<()> {
        let name = pack_file(self.organization, pack);
        let path = backup.create_folder_of(&name)?;
        // A repository may name a pack as present and as replaced.
        if path.exists() || backup.manifest.lost_packs.contains(&name) {
            return Ok(());
        }
        match self.shared.download(self.organization, pack, &path).await {
            Ok(()) => {
                backup.enter(&name, pack.bytes, pack.digest);
                backup.manifest.counts.packs += 1;
            }
            Err(registry::Error::PackDamaged { .. }) => {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                }
                self.shared.note_damage(self.organization, pack).await?;
                backup.manifest.lost_packs.insert(name);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
