//! The attestation of a version that is about to be published.

use registry::{Attestation, BranchName, BumpKind, ProjectPath, Version};
use repository::CommitId;

use super::publish_context::PublishContext;
use crate::attestation::Facts;
use crate::built::Built;
use crate::error::Error;

/// The number of a version, and where it comes from.
pub(super) struct Origin<'a> {
    pub version: Version,
    pub branch: &'a BranchName,
    pub commit: CommitId,
    pub project_path: &'a ProjectPath,
    pub bump: BumpKind,
}

impl PublishContext<'_> {
    /// Attests the facts about the build. The lease prevents another publication from taking the version number
    /// meanwhile.
    pub(super) async fn attest(&self, built: &Built, origin: Origin<'_>) -> Result<Attestation, Error> {
        let (lease, store) = (self.lease, &self.builder.store);
        let facts = Facts {
            lease,
            tool_name: &built.manifest.name,
            version: origin.version,
            bump: origin.bump,
            branch: origin.branch.as_str(),
            commit: &origin.commit,
            project_path: origin.project_path.as_str(),
            language: built.manifest.language,
            artifact: &built.artifact,
            packages: &built.packages,
            finished_at: store.clock().now(),
        };
        Ok(facts.attest(&store.versions().signing_key(&lease.organization).await?)?)
    }
}
