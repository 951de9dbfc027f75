//! The contents of a git repository that several servers share: its refs, and the packs with its objects.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;

/// The refs and packs of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryContents {
    /// The hexadecimal ids of the commits, by the full names of the refs.
    pub refs: BTreeMap<String, String>,
    /// Packs that have, together, every object that a ref reaches, the oldest first.
    pub packs: Vec<StoredPack>,
    /// Packs that a garbage collection replaced. They stay in the bucket for a while.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedPack>,
}

/// A pack in the bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPack {
    /// The 40 hexadecimal characters in git's name of the pack.
    pub name: String,
    pub digest: Digest,
    pub bytes: u64,
    /// The fence of the lease under which the pack was stored.
    pub fence: i64,
}

impl StoredPack {
    /// The name of the pack's object below the folder of its repository.
    #[must_use]
    pub fn object_name(&self) -> String {
        format!("{}-{}", self.fence, self.digest.to_hex())
    }

    /// The path of the pack below the folder of all packs, in a bucket and in a backup.
    #[must_use]
    pub fn path_of(&self, organization: &OrganizationId) -> String {
        format!("{}/{}", build_packs_folder(organization), self.object_name())
    }
}

/// The folder of a repository's packs. Names of organisations may have any case, and dots.
pub(crate) fn build_packs_folder(organization: &OrganizationId) -> String {
    Digest::of(organization.as_str().as_bytes()).to_hex()
}

/// A pack that is no longer part of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedPack {
    pub pack: StoredPack,
    pub at: Timestamp,
}

/// The contents of a repository with their generation, which every change increments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryGeneration {
    pub number: i64,
    pub contents: RepositoryContents,
}

/// The exclusive right to change a repository. It expires, by the database's clock, unless it is renewed. The next holder gets a
/// higher fence, and changes with a lower fence are refused from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryLease {
    pub organization: OrganizationId,
    pub fence: i64,
}

/// A pack that is missing or damaged in the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPack {
    pub organization: OrganizationId,
    /// [`StoredPack::object_name`].
    pub object: String,
}
