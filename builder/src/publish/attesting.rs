//! What is said about a version that is about to get its number.

use registry::{Attestation, BranchName, BumpKind, Lease, ProjectPath, Version};

use super::Builder;
use crate::attestation::Facts;
use crate::build::Built;
use crate::error::Error;
use crate::source::CommitId;

/// Where a version comes from, and how it was asked for.
pub(super) struct Origin<'a> {
    pub branch: &'a BranchName,
    pub commit: CommitId,
    pub project_path: &'a ProjectPath,
    pub bump: BumpKind,
}

impl Builder {
    /// Signs what is known about the build. The lease keeps the number free until it is taken.
    pub(super) async fn attest(&self, lease: &Lease, built: &Built, origin: Origin<'_>) -> Result<Attestation, Error> {
        let highest = self.store.highest_version(&lease.organization, &lease.tool).await?;
        let facts = Facts {
            lease,
            tool_name: &built.manifest.name,
            version: highest.map_or(Version::FIRST, |highest| highest.version.bump(origin.bump)),
            bump: origin.bump,
            branch: origin.branch.as_str(),
            commit: &origin.commit,
            project_path: origin.project_path.as_str(),
            language: built.manifest.language,
            artefact: &built.artefact,
            packages: &built.packages,
            finished_at: self.store.clock().now(),
        };
        Ok(facts.attest(&self.store.signing_key(&lease.organization).await?)?)
    }
}
