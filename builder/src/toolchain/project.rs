//! The input and the output of a toolchain.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attestation::Package;
use crate::component::BuiltArtifact;
use crate::steps::documents::Documents;
use crate::steps::manifest::Manifest;

/// Whether a build uses the packages and snapshots that earlier builds cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caches {
    Used,
    /// Empty caches show that no earlier build influences the result.
    Empty,
}

/// A project whose declarations were read.
pub struct Project<'a> {
    pub manifest: &'a Manifest,
    pub documents: &'a Documents,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Whether the project has no schema file, so that the schema comes from the code.
    pub derive_schema: bool,
    pub caches: Caches,
}

/// A built component and its contents.
pub struct ToolchainOutput {
    pub artifact: BuiltArtifact,
    /// Third-party packages in the component, and the programs that built it.
    pub packages: Vec<Package>,
    /// The JSON Schema of the input, if [`Project::derive_schema`] asked for it.
    pub input_schema: Option<String>,
}
