//! JavaScript and TypeScript: one script for the language's image, or for a snapshot of it with the project's packages.

mod apis;

use std::sync::Arc;

use registry::{Digest, Language};
use runner::{Project as Sources, SourceFile};

use super::pins;
use super::project::{Project, ToolchainOutput};
use super::shared::ToolchainParts;
use crate::attestation::Package;
use crate::component::{BuiltArtifact, Snapshot};
use crate::config::Config;
use crate::conventions::JAVASCRIPT_IMAGE;
use crate::error::Error;
use crate::images::{Images, ReadyImage};
use crate::progress::BuildProgress;
use crate::sandbox::Scratches;
use crate::snapshots::{SnapshotInputs, Snapshots};
use crate::steps::bundle::packages::Packages;
use crate::steps::bundle::{self, BundledProject};
use crate::steps::esbuild::packages as apart;
use crate::steps::esbuild::{self, Esbuild, EsbuildPackage, EsbuildSource};
use crate::steps::npm::NpmPackages;

/// The toolchain of JavaScript and TypeScript.
#[derive(Clone)]
pub struct JavaScript {
    images: Images,
    snapshots: Snapshots,
    scratches: Scratches,
    packages: NpmPackages,
    esbuild: EsbuildSource,
    esbuild_package: EsbuildPackage,
    /// The digest of the only esbuild that the operator allows.
    esbuild_digest: Option<Digest>,
    bundler: Arc<[String]>,
    confiner: Arc<[String]>,
}

/// The author's script. Without a snapshot, the script contains the packages.
struct Bundled {
    script: Vec<SourceFile>,
    snapshot: Option<Snapshot>,
}

impl JavaScript {
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(config: &Config, shared: &ToolchainParts) -> Result<Self, Error> {
        let packages = NpmPackages::new(config.npm_registry.as_deref(), &config.cache_dir, &config.parser)?;
        let ToolchainParts { images, snapshots, scratches } = shared.clone();
        Ok(Self {
            images,
            snapshots,
            scratches,
            packages,
            esbuild: config.esbuild.clone(),
            esbuild_package: EsbuildPackage::new(config.npm_registry.as_deref(), &config.cache_dir)?,
            esbuild_digest: config.esbuild_digest,
            bundler: config.bundler.as_slice().into(),
            confiner: config.confiner.as_slice().into(),
        })
    }

    /// The same toolchain with other caches of packages and snapshots. The bundler is a program and stays.
    ///
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn with_caches(&self, config: &Config, shared: &ToolchainParts) -> Result<Self, Error> {
        let packages = NpmPackages::new(config.npm_registry.as_deref(), &config.cache_dir, &config.parser)?;
        Ok(Self { packages, snapshots: shared.snapshots.clone(), ..self.clone() })
    }

    /// # Errors
    /// When a package cannot be fetched, the sources do not bundle, or the script does not run.
    pub async fn make(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        let Project { manifest, files, derive_schema, .. } = project;
        let ready =
            progress.run_step("image", self.images.prepare_with_progress(Language::JavaScript, progress)).await?;
        let fetch = self.packages.fetch(manifest, &files, progress);
        let (mut packages, dependencies) = progress.run_step("dependencies", fetch).await?;
        let mut files = files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect();
        let entry_point = apis::add_entry_file(manifest, &mut files)?;
        let sources = esbuild::Sources { entry_point: &entry_point, files, packages: dependencies };
        let bundling = async {
            let (esbuild, identity) = self.find_allowed_esbuild(progress).await?;
            packages.push(identity);
            self.build_bundle(&esbuild, sources, &ready, progress).await
        };
        let Bundled { script, snapshot } = progress.run_step("bundle", bundling).await?;
        let project = Sources { entry_point, files: script, dependencies: Vec::new() };
        let code = snapshot.as_ref().map_or(&ready.code, |snapshot| &snapshot.code);
        let made = bundle::bundle(code, &self.bundler, BundledProject { project, derive_schema });
        let made = progress.run_step("compile", made).await?;
        let artifact = match &snapshot {
            Some(snapshot) => BuiltArtifact::of_snapshot(snapshot, made.bytes),
            None => BuiltArtifact::of_image(&ready.image, made.bytes),
        };
        Ok(ToolchainOutput { artifact, packages, input_schema: made.input_schema })
    }

    /// The bundler, if the operator allows it, and its release and digest.
    async fn find_allowed_esbuild(&self, progress: &BuildProgress) -> Result<(Esbuild, Package), Error> {
        let esbuild = match &self.esbuild {
            EsbuildSource::Installed(esbuild) => esbuild.clone(),
            EsbuildSource::Package => self.esbuild_package.ready(progress).await?,
            EsbuildSource::Missing => return Err(esbuild::refuse_missing()),
        };
        let identity = esbuild.identity().await?;
        pins::check(&identity, self.esbuild_digest.as_ref(), "esbuild_digest")?;
        Ok((esbuild, identity))
    }

    async fn build_bundle(
        &self,
        esbuild: &Esbuild,
        sources: esbuild::Sources<'_>,
        ready: &ReadyImage,
        progress: &BuildProgress,
    ) -> Result<Bundled, Error> {
        let bundler = esbuild::Bundler { esbuild, confiner: &self.confiner, scratches: &self.scratches };
        let apart = if sources.packages.is_empty() { None } else { apart::bundle_project(bundler, &sources).await? };
        if let Some(apart) = apart
            // A package that cannot be bundled is refused below, with the author's line that imports it.
            && let Ok(packages) = apart::bundle_packages(bundler, &sources, &apart).await
        {
            let files = vec![packages];
            let packages = Packages { language: Language::JavaScript, files, imports: apart.imports.clone() };
            let ReadyImage { image, code } = ready;
            let of = SnapshotInputs { image, code, component: JAVASCRIPT_IMAGE.unpack, packages };
            let snapshot = self.snapshots.get(of, progress).await?;
            if snapshot.is_some() {
                return Ok(Bundled { script: apart.script, snapshot });
            }
        }
        let script = esbuild::bundle(bundler, sources).await?;
        Ok(Bundled { script, snapshot: None })
    }
}
