//! The build pipeline, from a project's files to a built tool, without a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use registry::{ApiName, Digest, OrganizationId, SchemaText, ToolApi, ToolWorld, VersionSettings};
use runner::{InputSchema, Limits, Mocks};
use serde_json::Value;

use crate::blocking::blocking;
use crate::built::Built;
use crate::cache_bounds::CacheBounds;
use crate::checks::CheckFiles;
use crate::config::Config;
use crate::error::Error;
use crate::images::Images;
use crate::progress::BuildProgress;
use crate::project_texts;
use crate::steps::apis::{self, ApiReport, ApiSchemas};
use crate::steps::documents::{Documents, Parser};
use crate::steps::manifest::{Manifest, check_arguments, check_mcp};
use crate::steps::{inspect, mocks, schema, stand_ins};
use crate::toolchain::Toolchains;
use crate::toolchain::project::{Caches, Project, ToolchainOutput};
use crate::warnings;
use crate::workers::Workers;

/// A check of the declarations before the build, such as that required variables are set.
pub type ManifestCheck<'a> = &'a (dyn Fn(&Manifest) -> Result<(), Error> + Send + Sync);

/// The files to build.
pub struct Sources<'a> {
    pub files: BTreeMap<String, Vec<u8>>,
    pub caches: Caches,
    pub accepts: ManifestCheck<'a>,
}

impl Sources<'_> {
    /// Files whose declarations need no check.
    #[must_use]
    pub fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, caches: Caches::Used, accepts: &|_| Ok(()) }
    }
}

/// Builds projects. Components are built in this process, or in workers if there are any.
#[derive(Clone)]
pub struct Pipeline {
    toolchains: Toolchains,
    workers: Option<Workers>,
    parser: Arc<[String]>,
    limits_max: Limits,
    cache_bounds: CacheBounds,
}

impl Pipeline {
    /// # Errors
    /// When the scratch directory, or the system's certificates, cannot be used.
    pub fn open(config: Config, images: Images) -> Result<Self, Error> {
        let (parser, limits_max) = (config.parser.as_slice().into(), config.limits_max);
        let cache_bounds = CacheBounds::of(&config.cache_dir);
        Ok(Self { toolchains: Toolchains::open(config, images)?, workers: None, parser, limits_max, cache_bounds })
    }

    /// The same pipeline with components built by workers.
    #[must_use]
    pub fn with_workers(self, workers: Option<Workers>) -> Self {
        Self { workers, ..self }
    }

    /// The same pipeline for the builds of an organisation, which shares the workers with others.
    #[must_use]
    pub fn of(&self, organization: &OrganizationId) -> Self {
        let workers = self.workers.as_ref().map(|workers| workers.of(organization));
        Self { workers, ..self.clone() }
    }

    #[must_use]
    pub const fn toolchains(&self) -> &Toolchains {
        &self.toolchains
    }

    /// Builds a project.
    ///
    /// # Errors
    /// When a stage refuses the project.
    pub async fn build(&self, sources: Sources<'_>, progress: &BuildProgress) -> Result<Built, Error> {
        let Sources { files, caches, accepts } = sources;
        let project = progress.run_step("manifest", ReadProject::read(files, Parser { command: &self.parser })).await?;
        let ReadProject { files, documents, declarations } = project;
        accepts(&declarations.manifest)?;
        let checks = CheckFiles::select(&files);
        let derive_schema = declarations.input_schema.is_none();
        let project = Project { manifest: &declarations.manifest, documents: &documents, files, derive_schema, caches };
        let made = self.make(project, progress).await?;
        self.cache_bounds.count_build().await;
        let limits_max = self.limits_max;
        let built = blocking(move || declarations.into_built(made, checks, &limits_max)).await??;
        built.warnings.iter().for_each(|warning| progress.warn(warning));
        Ok(built)
    }

    async fn make(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        match &self.workers {
            None => self.toolchains.make(project, progress).await,
            Some(workers) => workers.make(project, progress).await,
        }
    }
}

/// A project's files and declarations.
struct ReadProject {
    files: BTreeMap<String, Vec<u8>>,
    documents: Documents,
    declarations: Declarations,
}

impl ReadProject {
    /// Reads the declarations on a thread for blocking work.
    async fn read(files: BTreeMap<String, Vec<u8>>, parser: Parser<'_>) -> Result<Self, Error> {
        stand_ins::refuse(&files)?;
        let files = blocking(move || project_texts::normalise(files)).await??;
        let documents = Documents::read(&files, parser).await?;
        let read = move || {
            let declarations = Declarations::read(&documents, &files)?;
            Ok(Self { files, documents, declarations })
        };
        blocking(read).await?
    }
}

/// A project's declarations.
struct Declarations {
    manifest: Manifest,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
    /// The schema files of each API.
    api_schemas: BTreeMap<ApiName, ApiSchemas>,
    mocks: Mocks,
}

impl Declarations {
    fn read(documents: &Documents, files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        let manifest = Manifest::read(documents, files)?;
        let input_schema =
            manifest.input_schema.as_deref().map(|path| schema::read(files, path, schema::INPUT)).transpose()?;
        let output_schema =
            manifest.output_schema.as_deref().map(|path| schema::read(files, path, schema::OUTPUT)).transpose()?;
        let api_schemas = apis::read_schemas(&manifest, files)?;
        Ok(Self { mocks: mocks::read(files)?, manifest, input_schema, output_schema, api_schemas })
    }

    /// The built tool, with the author's settings within the operator's limits.
    fn into_built(mut self, made: ToolchainOutput, checks: CheckFiles, limits_max: &Limits) -> Result<Built, Error> {
        let derived = made.input_schema.as_deref().unwrap_or_default();
        let apis = self.build_apis(derived)?;
        let world = inspect::read_world(&made.artifact)?;
        let settings = VersionSettings { apis, ..self.build_settings(world, limits_max)? };
        let input_schema = match self.input_schema {
            _ if !settings.apis.is_empty() => apis::build_input_schema(&settings.apis)?,
            Some(schema) => schema,
            None => schema::parse_derived(derived)?,
        };
        check_arguments(&self.manifest.intervention_rules, &input_schema)?;
        check_mcp(&self.manifest.mcp, &input_schema)?;
        Ok(Built {
            warnings: warnings::find(&self.manifest, &input_schema, &settings, limits_max),
            settings,
            mocks: self.mocks,
            checks,
            validator: InputSchema::compile(&input_schema).map_err(Error::internal)?,
            input_schema,
            manifest: self.manifest,
            artifact: made.artifact,
            packages: made.packages,
        })
    }

    /// The APIs, if the manifest declares any.
    fn build_apis(&mut self, derived: &str) -> Result<BTreeMap<ApiName, ToolApi>, Error> {
        if self.manifest.apis.is_empty() {
            return apis::check_undeclared(derived).map(|()| BTreeMap::new());
        }
        apis::build_settings(&self.manifest, std::mem::take(&mut self.api_schemas), ApiReport::read(derived)?)
    }

    fn build_settings(&self, world: ToolWorld, limits_max: &Limits) -> Result<VersionSettings, Error> {
        let Self { manifest, mocks, output_schema, .. } = self;
        let limits = Limits::DEFAULT.with(manifest.timeout_ms, manifest.memory_bytes, limits_max);
        let mocks_digest = mocks.artifact().map_err(Error::internal)?.map(|bytes| Digest::of(&bytes));
        Ok(VersionSettings {
            language: manifest.language,
            entry_point: manifest.entry_point.clone(),
            output_schema: output_schema.as_ref().map(SchemaText::of),
            allowed_hosts: manifest.allowed_hosts.clone(),
            secret_hosts: manifest.secret_hosts.clone(),
            timeout_ms: limits.wall_ms,
            memory_bytes: limits.memory_bytes,
            limits: manifest.limits,
            mocks_digest,
            tape: manifest.tape,
            recorded_answers: manifest.recorded_answers,
            world,
            annotations: manifest.annotations.clone(),
            intervention: manifest.intervention,
            intervention_rules: manifest.intervention_rules.clone(),
            task_support: manifest.task_support,
            mcp: manifest.mcp.clone(),
            calls: manifest.calls.clone(),
            apis: BTreeMap::new(),
            system_role: manifest.system_role.clone(),
        })
    }
}
