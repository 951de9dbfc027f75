//! What is said about a version, and signed: how it was made, and what it is made of.

mod envelope;
mod package;
mod sbom;
mod statement;

use registry::{
    Attestation, BumpKind, Digest, Error, Language, Lease, OrganizationId, SigningKey, Timestamp, ToolId, Version,
};

use crate::component::Artefact;
use crate::source::CommitId;
pub use package::{Hash, Package};
pub use sbom::programs;

/// Names this builder, and the kind of build, in statements.
const BUILDER: &str = "urn:lathe:builder";
const BUILD_TYPE: &str = "urn:lathe:build:v1";
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Whether the signature is right, and what was signed speaks of this component.
#[must_use]
pub fn is_right(attestation: &Attestation, component: &Digest) -> bool {
    let statement = envelope::open(&attestation.provenance, &attestation.signed_by);
    statement.is_some_and(|found| statement::is_of(&found, component))
}

/// What is known about a build when its version gets its number.
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
    pub artefact: &'a Artefact,
    pub packages: &'a [Package],
    pub finished_at: Timestamp,
}

impl Facts<'_> {
    fn organization(&self) -> &OrganizationId {
        &self.lease.organization
    }

    fn tool(&self) -> &ToolId {
        &self.lease.tool
    }

    /// Says it, and signs it.
    ///
    /// # Errors
    /// When the key is damaged.
    pub fn attest(&self, key: &SigningKey) -> Result<Attestation, Error> {
        let sbom = sbom::document(self).to_string();
        let statement = statement::document(self, sbom.as_bytes()).to_string();
        let signed_by = key.public_key()?;
        let provenance = envelope::seal(&statement, key, &signed_by);
        Ok(Attestation { version: self.version, signed_by, provenance, sbom })
    }
}
