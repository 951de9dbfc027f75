//! Attestations: the signed provenance and the bill of materials of a version.

mod envelope;
mod facts;
mod package;
mod sbom;
mod statement;

use registry::{Attestation, Digest, Error, SigningKey};

pub use facts::Facts;
pub use package::{Hash, Package};
pub use sbom::list_programs;

/// Whether the signature is valid and the signed statement names this component.
#[must_use]
pub fn is_valid(attestation: &Attestation, component: &Digest) -> bool {
    let statement = envelope::open(&attestation.provenance, &attestation.signed_by);
    statement.is_some_and(|found| statement::is_of(&found, component))
}

impl Facts<'_> {
    /// Creates the bill of materials and the signed provenance.
    ///
    /// # Errors
    /// When the key is damaged.
    pub fn attest(&self, key: &SigningKey) -> Result<Attestation, Error> {
        let sbom = sbom::build_document(self).to_string();
        let statement = statement::build_document(self, sbom.as_bytes()).to_string();
        let signed_by = key.public_key()?;
        let provenance = envelope::seal(&statement, key, &signed_by);
        Ok(Attestation { version: self.version, signed_by, provenance, sbom })
    }
}
