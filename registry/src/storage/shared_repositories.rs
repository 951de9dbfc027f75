//! The git repositories that the servers of a database share: refs in the database, packs in the bucket.
//!
//! The key of a pack is `git/<organisation>/<fence>-<sha256>`. Each lease has a fence of its own, so that no key is used again
//! after its object was deleted, and a deletion that arrives late cannot hit a pack that is in use.

mod backup;
mod damage;

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::artifacts::{Artifacts, ObjectEntry, Objects};
use crate::error::{Error, Result};
use crate::files::blocking::off_the_runtime;
use crate::files::durable::add_path;
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::repositories::{RepositoryContents, RepositoryGeneration, RepositoryLease, StoredPack, build_packs_folder};
use crate::store::Store;

pub use backup::NamedPack;

/// The folder of all packs.
const FOLDER: &str = "git";

/// Time that packs stay in the bucket after a garbage collection replaced them: a backup of the database may name them while the
/// bucket is being copied.
const REPLACED_TIME: Duration = Duration::from_hours(24);

/// The shared repositories of an installation; cheap to clone.
#[derive(Clone, Debug)]
pub struct SharedRepositories {
    store: Store,
    objects: Objects,
}

/// A pack on this machine, and git's name of it.
#[derive(Clone, Copy, Debug)]
pub struct PackFile<'a> {
    pub path: &'a Path,
    pub name: &'a str,
}

impl SharedRepositories {
    /// Time from the last renewal of a lease to its expiry: the wait for the repository of a server that was killed.
    pub const LEASE_TIME: Duration = Duration::from_secs(15);

    /// Returns `None` for a database of one server, or without a bucket: its repositories are in the data directory.
    pub fn of(store: &Store, artifacts: &Artifacts) -> Option<Self> {
        let objects = artifacts.bucket().filter(|_| store.is_shared())?.clone();
        Some(Self { store: store.clone(), objects })
    }

    /// Lists the ids of all organisations.
    pub async fn organizations(&self) -> Result<Vec<OrganizationId>> {
        let organizations = self.store.access().list_organizations().await?;
        Ok(organizations.into_iter().map(|organization| organization.id).collect())
    }

    /// Returns the number of the present generation, and 0 for a repository without contents.
    pub async fn generation(&self, organization: &OrganizationId) -> Result<i64> {
        self.store.repositories().repository_generation(organization).await
    }

    /// Returns the present contents, if there are any.
    pub async fn read(&self, organization: &OrganizationId) -> Result<Option<RepositoryGeneration>> {
        self.store.repositories().repository(organization).await
    }

    /// Takes the lease of a repository. `None` while another change holds it.
    pub async fn acquire(&self, organization: &OrganizationId) -> Result<Option<RepositoryLease>> {
        self.store.repositories().acquire_repository(organization, Self::LEASE_TIME).await
    }

    /// Extends a lease. [`Error::LeaseLost`] when it was taken over.
    pub async fn renew(&self, lease: &RepositoryLease) -> Result<()> {
        self.store.repositories().renew_repository(lease, Self::LEASE_TIME).await
    }

    /// Ends a lease.
    pub async fn release(&self, lease: &RepositoryLease) -> Result<()> {
        self.store.repositories().release_repository(lease).await
    }

    /// Replaces the contents of a generation, whose packs must be stored. Returns the next generation.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the lease was taken over, or the repository has another generation.
    pub async fn record(
        &self,
        lease: &RepositoryLease,
        number: i64,
        mut contents: RepositoryContents,
    ) -> Result<RepositoryGeneration> {
        let replaced_after = self.compute_replaced_after();
        contents.replaced.retain(|replaced| replaced.at >= replaced_after);
        let number = self.store.repositories().record_repository(lease, number, &contents).await?;
        Ok(RepositoryGeneration { number, contents })
    }

    /// Stores a pack durably.
    pub async fn upload(&self, lease: &RepositoryLease, pack: PackFile<'_>) -> Result<StoredPack> {
        let (digest, bytes) = measure(pack.path).await?;
        let stored = StoredPack { name: pack.name.to_owned(), digest, bytes, fence: lease.fence };
        self.objects.upload(pack.path, &build_key(&lease.organization, &stored)).await?;
        Ok(stored)
    }

    /// Writes a pack to a new file, and compares its size and its digest.
    ///
    /// # Errors
    /// [`Error::PackDamaged`] when the pack is missing or damaged.
    pub async fn download(&self, organization: &OrganizationId, pack: &StoredPack, to: &Path) -> Result<()> {
        let key = build_key(organization, pack);
        let corrupt = |problem: &str| Error::PackDamaged { detail: format!("{}/{key} {problem}", self.objects.url()) };
        match self.objects.size(&key).await? {
            Some(bytes) if bytes == pack.bytes => {}
            Some(_) => return Err(corrupt("has another size than the pack that was stored")),
            None => return Err(corrupt("is missing")),
        }
        if !self.objects.download(&key, to).await? {
            return Err(corrupt("is missing"));
        }
        match measure(to).await? {
            (digest, bytes) if digest == pack.digest && bytes == pack.bytes => Ok(()),
            _ => Err(corrupt("does not match its digest")),
        }
    }

    /// Deletes the packs of pushes that failed, and those that were replaced, after a day. Returns their number. `contents` are the
    /// present ones under the lease.
    ///
    /// A pack of an earlier lease that is not part of the contents never will be, since that lease has lost its fence. So no clock
    /// decides about it.
    pub async fn delete_unused(&self, lease: &RepositoryLease, contents: &RepositoryContents) -> Result<u64> {
        let organization = &lease.organization;
        let before = self.compute_replaced_after();
        let is_earlier = |key: &str| parse_fence(key).is_some_and(|fence| fence < lease.fence);
        let listed = self.objects.list(&build_folder(organization)).await?;
        let replaced = contents.replaced.iter().filter(|replaced| replaced.at >= before).map(|replaced| &replaced.pack);
        let used: HashSet<String> =
            contents.packs.iter().chain(replaced).map(|pack| build_key(organization, pack)).collect();
        let mut deleted = 0;
        let is_unused =
            |object: &ObjectEntry| object.modified < before && is_earlier(&object.key) && !used.contains(&object.key);
        for object in listed.into_iter().filter(is_unused) {
            self.objects.delete(&object.key).await?;
            deleted += 1;
        }
        Ok(deleted)
    }

    /// The present time, for replaced packs.
    pub fn now(&self) -> Timestamp {
        self.store.clock().now()
    }

    fn compute_replaced_after(&self) -> Timestamp {
        let milliseconds = i64::try_from(REPLACED_TIME.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_milliseconds(self.now().as_milliseconds().saturating_sub(milliseconds))
    }
}

fn build_folder(organization: &OrganizationId) -> String {
    format!("{FOLDER}/{}", build_packs_folder(organization))
}

fn build_key(organization: &OrganizationId, pack: &StoredPack) -> String {
    format!("{FOLDER}/{}", pack.path_of(organization))
}

/// The fence in a key.
fn parse_fence(key: &str) -> Option<i64> {
    let (_, name) = key.rsplit_once('/')?;
    name.split_once('-')?.0.parse().ok()
}

/// The digest and the size of a file.
async fn measure(path: &Path) -> Result<(Digest, u64)> {
    let path = path.to_owned();
    off_the_runtime(move || {
        let mut hash = Sha256::new();
        let mut file = add_path(&path, File::open(&path))?;
        let bytes = add_path(&path, std::io::copy(&mut file, &mut hash))?;
        Ok((Digest::from_bytes(hash.finalize().into()), bytes))
    })
    .await
}
