//! From a language's sources to what runs, one language a file.

pub mod javascript;
mod pins;
pub mod python;
pub mod rust;

use std::collections::BTreeMap;

use registry::Language;

use crate::attestation::Package;
use crate::component::Artefact;
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::manifest::Manifest;
use crate::workbench::Workbench;

/// A project whose declarations were read.
pub struct Project<'a> {
    pub manifest: &'a Manifest,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Whether there is no schema file, so that the code has to tell.
    pub derive_schema: bool,
}

/// What came of it.
pub struct Made {
    pub artefact: Artefact,
    /// What others wrote and is part of it.
    pub packages: Vec<Package>,
    /// The input's JSON Schema, when it was to be derived.
    pub input_schema: Option<String>,
}

/// Makes what runs.
///
/// # Errors
/// The first stage that refuses the project.
pub async fn make(project: Project<'_>, workbench: &Workbench, progress: &Progress) -> Result<Made, Error> {
    match project.manifest.language {
        Language::JavaScript => javascript::make(project, workbench, progress).await,
        Language::Python => python::make(project, workbench, progress).await,
        Language::Rust => rust::make(project, workbench, progress).await,
    }
}
