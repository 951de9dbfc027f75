//! Rust: a complete component, which cargo compiles in the sandbox from crates that the server has fetched.

mod cargo;
mod compiled;
mod crates;
pub mod installation;
pub mod lock;
pub mod manifest;
pub mod messages;

use std::sync::Arc;

use registry::Digest;
use runner::{Compiler, Maker, NativeCode};

use super::pins;
use super::project::{Project, ToolchainOutput};
use super::shared::ToolchainParts;
use crate::attestation::{Hash, Package};
use crate::blocking::blocking;
use crate::component::BuiltArtifact;
use crate::config::{BuildPlace, Config};
use crate::error::Error;
use crate::progress::BuildProgress;
use crate::sandbox::{LazySandbox, Sandbox, ScratchDirectory, Scratches, files as sandbox_files};
use crate::steps::documents::Parser;
use crate::steps::{bundle, inspect};
use compiled::{CompiledCrates, DependencyOnlyProject};
pub use crates::build_index_url;
use crates::{Crates, VendorTarget};
use installation::{Identity, RustInstallation};
use lock::{Lock, Pinned};

/// Files with which a project would configure cargo and rustup. Builds do not read them.
const NOT_READ: [&str; 4] = [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];

/// The toolchain of Rust.
#[derive(Clone)]
pub struct Rust {
    pub sandbox: LazySandbox,
    installation: Arc<RustInstallation>,
    /// The digest of the only installation that the operator allows.
    allowed_digest: Option<Digest>,
    crates: Crates,
    compiled: CompiledCrates,
    scratches: Scratches,
    place: BuildPlace,
    compiler: Compiler,
    bundler: Arc<[String]>,
    parser: Arc<[String]>,
}

impl Rust {
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(config: &Config, shared: &ToolchainParts) -> Result<Self, Error> {
        Ok(Self {
            sandbox: LazySandbox::new(config.bubblewrap.clone(), config.scratch_dir.clone()),
            installation: Arc::new(RustInstallation::new(config.rust_toolchain.clone(), config.place)),
            allowed_digest: config.rust_toolchain_digest,
            crates: Crates::new(config.crate_index.as_deref(), &config.cache_dir)?,
            compiled: CompiledCrates::open(config, shared.images.compiler())?,
            scratches: shared.scratches.clone(),
            place: config.place,
            compiler: shared.images.compiler().clone(),
            bundler: config.bundler.as_slice().into(),
            parser: config.parser.as_slice().into(),
        })
    }

    /// The same toolchain with the caches that `config` names.
    ///
    /// # Errors
    /// When the system's certificates cannot be used, or the directory of a cache cannot be made.
    pub fn with_caches(&self, config: &Config) -> Result<Self, Error> {
        let crates = Crates::new(config.crate_index.as_deref(), &config.cache_dir)?;
        let compiler = self.compiler.with_empty_cache(&config.cache_dir.join("compiled"))?;
        let compiled = CompiledCrates::open(config, &compiler)?;
        Ok(Self { crates, compiled, compiler, ..self.clone() })
    }

    /// # Errors
    /// When a crate cannot be fetched, the code does not compile, or the component is not a tool.
    pub async fn make(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        let library = manifest::read_library(project.documents)?;
        let (sandbox, compiler) = progress.run_step("toolchain", self.prepare(progress)).await?;
        let (lock, scratch) = progress.run_step("dependencies", self.fetch(&project, progress)).await?;
        let skeleton = DependencyOnlyProject::of(&project.files, &compiler);
        let (installation, lock, sandbox) = (&*self.installation, &lock, &sandbox);
        let build = cargo::Build { installation, scratch: &scratch, lock, sandbox, progress };
        let compile = async {
            if !lock.pinned.is_empty() {
                self.compiled.provide(&build, skeleton).await?;
            }
            build.compile_component(&library).await
        };
        let component = progress.run_step("compile", compile).await?;
        drop(scratch);
        let artifact = BuiltArtifact::own(component);
        let code = progress.run_step("inspect", self.inspect(&artifact)).await?;
        let input_schema = match project.derive_schema {
            true => progress.run_step("schema", self.read_input_schema(&code)).await?,
            false => None,
        };
        let packages = lock.pinned.iter().cloned().map(Package::from).chain([Package::from(compiler)]).collect();
        Ok(ToolchainOutput { artifact, packages, input_schema })
    }

    /// The sandbox and the compiler's identity.
    async fn prepare(&self, progress: &BuildProgress) -> Result<(Sandbox, Identity), Error> {
        let compiler = self.installation.identity().await?;
        let sandbox = self.sandbox.get().await.map_err(|missing| {
            let place = self.place.name();
            let message = format!("{place} cannot build Rust, since it has no sandbox for builds: {missing}");
            installation::refuse("sandbox", &message)
        })?;
        pins::check(&compiler.clone().into(), self.allowed_digest.as_ref(), "rust_toolchain_digest")?;
        progress.line(format!("{}, {}", compiler.release, compiler.digest));
        Ok((sandbox, compiler))
    }

    /// Writes the project and its crates to a temporary directory.
    async fn fetch(&self, project: &Project<'_>, progress: &BuildProgress) -> Result<(Lock, ScratchDirectory), Error> {
        let lock = lock::read(project.documents)?;
        for file in NOT_READ.iter().filter(|file| project.files.contains_key(**file)) {
            progress.line(format!("{file} is ignored: builds take no cargo or rustup settings from the project"));
        }
        manifest::find_left_out(project.documents)?.into_iter().for_each(|line| progress.line(line));
        let scratch = self.scratches.make().map_err(Error::internal)?;
        let (source, files) = (cargo::source(&scratch), project.files.clone());
        let write = move || sandbox_files::write_all(&source, &files);
        blocking(write).await?.map_err(Error::internal)?;
        let vendor = VendorTarget { directory: &cargo::vendor(&scratch), parser: Parser { command: &self.parser } };
        self.crates.vendor(&lock.pinned, vendor, progress).await?;
        Ok((lock, scratch))
    }

    /// Compiles the component for this node, if it is a tool within the bounds of compilation.
    async fn inspect(&self, artifact: &BuiltArtifact) -> Result<Arc<NativeCode>, Error> {
        let component = artifact.bytes().clone();
        let inspect = move || inspect::inspect_tool(&component);
        blocking(inspect).await??;
        let bytes = async { Ok::<_, Error>(artifact.bytes().to_vec()) };
        self.compiler.ready(&artifact.component_digest(), Maker::Author, bytes).await
    }

    async fn read_input_schema(&self, code: &NativeCode) -> Result<Option<String>, Error> {
        let schema = bundle::read_input_schema(code, &self.bundler).await?;
        let missing = "the tool does not declare its input's type: name it with `lathe::tool!`, or set input_schema to a \
                       schema file";
        schema.map(Some).ok_or_else(|| Error::failed("schema", "input-schema", missing))
    }
}

impl From<Pinned> for Package {
    fn from(Pinned { name, version, checksum, .. }: Pinned) -> Self {
        Self { kind: "cargo", name, version, hash: Some(Hash::sha256(checksum.to_hex())) }
    }
}
