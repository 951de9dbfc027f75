//! Contents that the database of a restored directory names, and the backup lacks.

use std::collections::{BTreeMap, HashSet};

use registry::{Artifacts, DataDir, OrganizationId, Store, Timestamp};
use serde_json::{Value, json};

use crate::backup::{Manifest, pack_file};
use crate::failure::Failure;
use crate::output::Screen;

/// Organisations that a message names.
const NAMED_MAX: usize = 10;

#[derive(Debug, Default)]
pub struct Losses {
    artifacts: u64,
    bodies: u64,
    /// Packs of shared repositories, by their paths in a backup.
    packs: BTreeMap<String, OrganizationId>,
}

impl Losses {
    /// Compares the rows with the files of the restored directory, whose digests were compared when they were copied.
    pub async fn find(store: &Store, data: &DataDir, manifest: &Manifest) -> anyhow::Result<Self> {
        let artifacts = Artifacts::open(data)?;
        let mut losses = Self::default();
        for digest in store.versions().artifacts_in_use().await? {
            losses.artifacts += u64::from(!artifacts.contains(&digest).await?);
        }
        let stored = artifacts.bodies().list(Timestamp::from_milliseconds(i64::MAX)).await?;
        let stored: HashSet<_> = stored.into_iter().map(|body| body.digest).collect();
        losses.bodies = store.history().bodies_in_use().await?.difference(&stored).count() as u64;
        losses.packs = find_missing_packs(store, manifest).await?;
        Ok(losses)
    }

    /// Refuses packs that the bucket had when the backup was made: the dump is of another time.
    pub fn refuse_unknown_packs(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let unknown: BTreeMap<_, _> =
            self.packs.iter().filter(|(path, _)| !manifest.lost_packs.contains(*path)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let mut organizations: Vec<&str> = unknown.values().map(|organization| organization.as_str()).collect();
        organizations.dedup();
        organizations.truncate(NAMED_MAX);
        let message = format!(
            "the database names {} packs of git repositories that the backup lacks, of {}: its dump was not made just before the backup",
            unknown.len(),
            organizations.join(", ")
        );
        let hint = "restore the dump that `pg_dump` made before this backup, at most a day; \
            or give --without-packs and start the server with the bucket that still has them";
        Err(Failure::coded("packs_missing", message, hint))
    }

    pub fn is_empty(&self) -> bool {
        self.artifacts == 0 && self.bodies == 0 && self.packs.is_empty()
    }

    pub fn build_document(&self) -> Value {
        json!({"artifacts": self.artifacts, "bodies": self.bodies, "packs": self.packs.len()})
    }

    pub fn warn(&self, screen: Screen) {
        let Self { artifacts, bodies, packs } = self;
        if *artifacts > 0 {
            screen.note(format!(
                "warning: {artifacts} artifacts of versions are not in the backup; publish these versions again"
            ));
        }
        if *bodies > 0 {
            screen.note(format!(
                "warning: {bodies} large bodies of recordings are not in the backup; their runs cannot be replayed"
            ));
        }
        if !packs.is_empty() {
            screen.note(format!(
                "warning: {} packs of git repositories are not in the backup; their repositories answer 503 \
                `repository_damaged` until the bucket has them, or a server that has a copy runs",
                packs.len()
            ));
        }
    }
}

/// The packs that the rows name, and the manifest does not.
async fn find_missing_packs(store: &Store, manifest: &Manifest) -> anyhow::Result<BTreeMap<String, OrganizationId>> {
    let present: HashSet<&str> = manifest.files.iter().map(|entry| entry.path.as_str()).collect();
    let mut missing = BTreeMap::new();
    if !store.is_shared() {
        return Ok(missing);
    }
    for organization in store.access().list_organizations().await? {
        let Some(found) = store.repositories().repository(&organization.id).await? else { continue };
        let paths = found.contents.packs.iter().map(|pack| pack_file(&organization.id, pack));
        missing
            .extend(paths.filter(|path| !present.contains(path.as_str())).map(|path| (path, organization.id.clone())));
    }
    Ok(missing)
}
