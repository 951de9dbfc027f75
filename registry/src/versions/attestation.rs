//! Attestations: signed statements about how a version was built.

use super::version::Version;
use crate::kit::clock::Timestamp;
use crate::kit::public_key::PublicKey;

/// The statements about one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attestation {
    /// The version that the statements name.
    pub version: Version,
    pub signed_by: PublicKey,
    /// A DSSE envelope, as JSON.
    pub provenance: String,
    /// A CycloneDX document, as JSON.
    pub sbom: String,
}

/// A key that has signed versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningKeyInUse {
    pub key: PublicKey,
    pub since: Timestamp,
}
