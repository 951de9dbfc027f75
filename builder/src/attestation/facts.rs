//! The facts that an attestation states.

use registry::{BumpKind, Language, Lease, OrganizationId, Timestamp, ToolId, Version};
use repository::CommitId;

use super::package::Package;
use crate::component::BuiltArtifact;

/// The identifier of this builder in statements.
pub const BUILDER: &str = "urn:lathe:builder";
/// The identifier of the kind of build in statements.
pub const BUILD_TYPE: &str = "urn:lathe:build:v1";
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The facts about a build that are known before its version is published.
#[derive(Debug)]
pub struct Facts<'a> {
    pub lease: &'a Lease,
    pub tool_name: &'a str,
    pub version: Version,
    pub bump: BumpKind,
    pub branch: &'a str,
    pub commit: &'a CommitId,
    pub project_path: &'a str,
    pub language: Language,
    pub artifact: &'a BuiltArtifact,
    pub packages: &'a [Package],
    pub finished_at: Timestamp,
}

impl Facts<'_> {
    pub fn organization(&self) -> &OrganizationId {
        &self.lease.organization
    }

    pub fn tool(&self) -> &ToolId {
        &self.lease.tool
    }
}
