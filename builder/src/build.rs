//! From sources to a built tool: the steps in order, without a store.

use std::collections::BTreeMap;

use registry::{Digest, Language, VersionSettings};
use runner::{InputSchema, Limits, Mocks, NativeCode, Project, SourceFile};
use serde_json::Value;

use crate::Place;
use crate::component::Image;
use crate::error::Error;
use crate::progress::Progress;
use crate::source::SourceTree;
use crate::steps::dependencies::Packages;
use crate::steps::manifest::{self, Manifest};
use crate::steps::{bundle, mocks, schema};

/// What a build needs beside the sources.
pub struct Toolchain<'a> {
    pub image: &'a Image,
    /// The image's compiled code on this node.
    pub code: &'a NativeCode,
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
    pub image_digest: Digest,
    pub bundle: Vec<u8>,
    pub component_digest: Digest,
}

/// Builds a project.
///
/// # Errors
/// The first stage that refuses it.
pub async fn build(tree: SourceTree, toolchain: &Toolchain<'_>, progress: &Progress) -> Result<Built, Error> {
    let files = tree.files;
    let (manifest, author_schema, mocks) = progress.step("manifest", async { read_declarations(&files) }).await?;
    let fetch = toolchain.packages.fetch(&manifest, &files, progress);
    let dependencies = progress.step("dependencies", fetch).await?;
    let project = Project { entry_point: manifest.entry_point.clone(), files: source_files(files), dependencies };
    let made = progress.step("compile", bundle::bundle(toolchain, project, author_schema.is_none())).await?;
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
        image_digest: toolchain.image.digest,
        component_digest: toolchain.image.component_digest(&made.bytes),
        bundle: made.bytes,
    })
}

/// The manifest, the schema file that it may name, and the answers for simulations.
fn read_declarations(files: &BTreeMap<String, Vec<u8>>) -> Result<(Manifest, Option<Value>, Mocks), Error> {
    let manifest = read_manifest(files)?;
    let schema = manifest.input_schema.as_deref().map(|path| schema::read(files, path)).transpose()?;
    Ok((manifest, schema, mocks::read(files)?))
}

fn read_manifest(files: &BTreeMap<String, Vec<u8>>) -> Result<Manifest, Error> {
    let bytes = files.get(manifest::FILE).ok_or_else(|| {
        let message = "the project has no pyproject.toml; `lathe tool new` makes one";
        Error::failed("manifest", "manifest", message, Place::file(manifest::FILE))
    })?;
    Manifest::parse(bytes)
}

fn source_files(files: BTreeMap<String, Vec<u8>>) -> Vec<SourceFile> {
    files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect()
}

/// The author's settings below the operator's caps.
fn settings(manifest: &Manifest, mocks: &Mocks, limits_max: &Limits) -> Result<VersionSettings, Error> {
    let limits = Limits::DEFAULT.with(manifest.timeout_ms, manifest.memory_bytes, limits_max);
    let mocks_digest = mocks.artifact().map_err(Error::internal)?.map(|bytes| Digest::of(&bytes));
    Ok(VersionSettings {
        language: Language::Python,
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
