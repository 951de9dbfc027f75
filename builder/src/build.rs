//! From sources to a built tool: the steps in order, without a store.

use std::collections::BTreeMap;

use registry::{Digest, OrganizationId, VersionSettings};
use runner::{InputSchema, Limits, Mocks};
use serde_json::Value;

use crate::attestation::Package;
use crate::checks::{CheckFiles, Subject};
use crate::component::Artefact;
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::manifest::Manifest;
use crate::steps::{inspect, mocks, schema};
use crate::toolchain::Project;
use crate::workbench::Workbench;

/// A tool that can run.
#[derive(Debug)]
pub struct Built {
    pub manifest: Manifest,
    pub settings: VersionSettings,
    pub input_schema: Value,
    pub validator: InputSchema,
    pub mocks: Mocks,
    /// Not read yet: a version is built again whatever its checks say.
    pub checks: CheckFiles,
    pub artefact: Artefact,
    pub packages: Vec<Package>,
}

impl Built {
    /// The name that the tool would have.
    #[must_use]
    pub fn tool_name(&self) -> String {
        self.manifest.name.replace('-', "_").to_lowercase()
    }

    /// What checks run.
    pub(crate) fn subject<'a>(&'a self, organization: &'a OrganizationId) -> Subject<'a> {
        Subject {
            organization,
            tool_name: self.tool_name(),
            code: self.artefact.code(),
            settings: &self.settings,
            input_schema: &self.validator,
            mocks: &self.mocks,
            required_envvars: &self.manifest.required_envvars,
            required_secret_envvars: &self.manifest.required_secret_envvars,
        }
    }
}

/// Builds a project out of its files.
///
/// # Errors
/// The first stage that refuses it.
pub async fn build(
    files: BTreeMap<String, Vec<u8>>,
    workbench: &Workbench,
    progress: &Progress,
) -> Result<Built, Error> {
    let declared = progress.step("manifest", async { read_declarations(&files) }).await?;
    let Declarations { manifest, input_schema, output_schema, mocks } = declared;
    let checks = CheckFiles::among(&files);
    let project = Project { manifest: &manifest, files, derive_schema: input_schema.is_none() };
    let made = workbench.make(project, progress).await?;
    let input_schema = match input_schema {
        Some(schema) => schema,
        None => schema::derived(made.input_schema.as_deref().unwrap_or_default())?,
    };
    let settings = settings(&manifest, &mocks, output_schema, &workbench.config.limits_max)?;
    Ok(Built {
        settings: VersionSettings { world: Some(inspect::world_of(&made.artefact)?), ..settings },
        mocks,
        checks,
        validator: InputSchema::compile(&input_schema).map_err(Error::internal)?,
        input_schema,
        manifest,
        artefact: made.artefact,
        packages: made.packages,
    })
}

/// What the project says of itself.
struct Declarations {
    manifest: Manifest,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
    mocks: Mocks,
}

fn read_declarations(files: &BTreeMap<String, Vec<u8>>) -> Result<Declarations, Error> {
    let manifest = Manifest::read(files)?;
    let input_schema =
        manifest.input_schema.as_deref().map(|path| schema::read(files, path, schema::INPUT)).transpose()?;
    let output_schema =
        manifest.output_schema.as_deref().map(|path| schema::read(files, path, schema::OUTPUT)).transpose()?;
    Ok(Declarations { mocks: mocks::read(files)?, manifest, input_schema, output_schema })
}

/// The author's settings below the operator's caps.
fn settings(
    manifest: &Manifest,
    mocks: &Mocks,
    output_schema: Option<Value>,
    limits_max: &Limits,
) -> Result<VersionSettings, Error> {
    let limits = Limits::DEFAULT.with(manifest.timeout_ms, manifest.memory_bytes, limits_max);
    let mocks_digest = mocks.artifact().map_err(Error::internal)?.map(|bytes| Digest::of(&bytes));
    Ok(VersionSettings {
        language: manifest.language,
        entry_point: manifest.entry_point.clone(),
        output_schema,
        allowed_hosts: manifest.allowed_hosts.clone(),
        secret_hosts: manifest.secret_hosts.clone(),
        timeout_ms: limits.wall_ms,
        memory_bytes: limits.memory_bytes,
        limits: manifest.limits,
        mocks_digest,
        tape: manifest.tape,
        recorded_answers: manifest.recorded_answers,
        world: None,
    })
}
