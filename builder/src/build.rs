//! From sources to a built tool: the steps in order, without a store.

use std::collections::BTreeMap;

use registry::{Digest, VersionSettings};
use runner::{InputSchema, Limits, Mocks};
use serde_json::Value;

use crate::attestation::Package;
use crate::component::Artefact;
use crate::error::Error;
use crate::images::Images;
use crate::progress::Progress;
use crate::source::SourceTree;
use crate::steps::dependencies::Packages;
use crate::steps::manifest::Manifest;
use crate::steps::{mocks, schema};
use crate::toolchain::{self, Project};

/// What a build needs beside the sources.
pub struct Toolchain<'a> {
    pub images: &'a Images,
    pub bundler: &'a [String],
    pub packages: &'a Packages,
    pub limits_max: &'a Limits,
}

/// A tool that can run.
#[derive(Debug)]
pub struct Built {
    pub manifest: Manifest,
    pub settings: VersionSettings,
    pub input_schema: Value,
    pub validator: InputSchema,
    pub mocks: Mocks,
    pub artefact: Artefact,
    pub packages: Vec<Package>,
}

/// Builds a project.
///
/// # Errors
/// The first stage that refuses it.
pub async fn build(tree: SourceTree, toolchain: &Toolchain<'_>, progress: &Progress) -> Result<Built, Error> {
    let files = tree.files;
    let (manifest, author_schema, mocks) = progress.step("manifest", async { read_declarations(&files) }).await?;
    let project = Project { manifest: &manifest, files, derive_schema: author_schema.is_none() };
    let made = toolchain::make(project, toolchain, progress).await?;
    let input_schema = match author_schema {
        Some(schema) => schema,
        None => schema::derived(made.input_schema.as_deref().unwrap_or_default())?,
    };
    Ok(Built {
        settings: settings(&manifest, &mocks, toolchain.limits_max)?,
        mocks,
        validator: InputSchema::compile(&input_schema).map_err(Error::internal)?,
        input_schema,
        manifest,
        artefact: made.artefact,
        packages: made.packages,
    })
}

/// The manifest, the schema file that it may name, and the answers for simulations.
fn read_declarations(files: &BTreeMap<String, Vec<u8>>) -> Result<(Manifest, Option<Value>, Mocks), Error> {
    let manifest = Manifest::read(files)?;
    let schema = manifest.input_schema.as_deref().map(|path| schema::read(files, path)).transpose()?;
    Ok((manifest, schema, mocks::read(files)?))
}

/// The author's settings below the operator's caps.
fn settings(manifest: &Manifest, mocks: &Mocks, limits_max: &Limits) -> Result<VersionSettings, Error> {
    let limits = Limits::DEFAULT.with(manifest.timeout_ms, manifest.memory_bytes, limits_max);
    let mocks_digest = mocks.artifact().map_err(Error::internal)?.map(|bytes| Digest::of(&bytes));
    Ok(VersionSettings {
        language: manifest.language,
        entry_point: manifest.entry_point.clone(),
        allowed_hosts: manifest.allowed_hosts.clone(),
        secret_hosts: manifest.secret_hosts.clone(),
        timeout_ms: limits.wall_ms,
        memory_bytes: limits.memory_bytes,
        limits: manifest.limits,
        mocks_digest,
        tape: manifest.tape,
        recorded_answers: manifest.recorded_answers,
    })
}
