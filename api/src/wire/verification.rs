//! The verification of a version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of building a version again.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VersionVerification")]
pub struct Verification {
    /// Whether the build produced the same version, byte for byte.
    pub identical: bool,
    pub differences: Vec<VersionDifference>,
    /// Whether the signature of the provenance is valid and names this component.
    pub signed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VersionDifference {
    /// A field of the version, or `toolchain` when something differs and other programs built it.
    pub what: String,
    pub published: String,
    pub rebuilt: String,
}

impl From<builder::Verification> for Verification {
    fn from(builder::Verification { differences, is_signed }: builder::Verification) -> Self {
        let difference = |builder::VersionDifference { what, published, rebuilt }| VersionDifference {
            what: what.into(),
            published,
            rebuilt,
        };
        let differences: Vec<_> = differences.into_iter().map(difference).collect();
        Self { identical: differences.is_empty(), differences, signed: is_signed }
    }
}
