//! Rust: a component of its own, made by cargo in the sandbox out of crates that were fetched before.

mod cargo;
mod crates;
mod disk;
mod lock;
mod manifest;
mod messages;
mod programs;
mod unpack;

use std::sync::Arc;

use registry::Digest;
use runner::Maker;

use super::{Made, Project, pins};
use crate::Config;
use crate::attestation::{Hash, Package};
use crate::component::Artefact;
use crate::error::Error;
use crate::progress::Progress;
use crate::sandbox::{Sandbox, ScratchDirectory};
use crate::steps::{bundle, inspect};
use crate::workbench::Workbench;
use crates::Crates;
use lock::Pinned;
use programs::Identity;
pub use programs::Programs;

/// What cargo and rustup would obey in an author's own directory.
const NOT_READ: [&str; 4] = [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];

/// What builds of Rust need on this machine.
#[derive(Debug, Clone)]
pub struct Rust {
    programs: Arc<Programs>,
    crates: Crates,
}

impl Rust {
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let programs = Arc::new(Programs::new(config.rust_toolchain.clone()));
        Ok(Self { programs, crates: Crates::new(config.crate_index.as_deref(), &config.cache_dir)? })
    }
}

/// # Errors
/// When a crate cannot be had, the code does not compile, or what comes of it is no tool.
pub async fn make(project: Project<'_>, workbench: &Workbench, progress: &Progress) -> Result<Made, Error> {
    let rust = &workbench.rust;
    let library = manifest::library(&project.files)?;
    let (sandbox, compiler) = progress.step("toolchain", ready(workbench, progress)).await?;
    let fetch = fetch(&project, workbench, progress);
    let (pinned, scratch) = progress.step("dependencies", fetch).await?;
    let job = cargo::Build { programs: &rust.programs, scratch: &scratch, library: &library };
    let component = progress.step("compile", job.run(&sandbox, progress)).await?;
    drop(scratch);
    let artefact = Artefact::own(component);
    let code = progress.step("inspect", inspected(&artefact, workbench)).await?;
    let input_schema = match project.derive_schema {
        true => progress.step("schema", input_schema(&code, workbench)).await?,
        false => None,
    };
    let packages = pinned.into_iter().map(Package::from).chain([Package::from(compiler)]).collect();
    Ok(Made { artefact, packages, input_schema })
}

/// The sandbox and the compiler to run in it, when there are both.
async fn ready(workbench: &Workbench, progress: &Progress) -> Result<(Sandbox, Identity), Error> {
    let sandbox = workbench.sandbox().await.map_err(|missing| {
        let message = format!("this server builds no Rust, since it has no sandbox for builds: {missing}");
        programs::refuse("sandbox", &message)
    })?;
    let compiler = workbench.rust.programs.identity().await?;
    pins::check(&compiler.clone().into(), workbench.config.rust_toolchain_digest.as_ref(), "rust_toolchain_digest")?;
    progress.line(format!("{}, {}", compiler.release, compiler.digest));
    Ok((sandbox, compiler))
}

/// The project and all of its crates, on a disk.
async fn fetch(
    project: &Project<'_>,
    workbench: &Workbench,
    progress: &Progress,
) -> Result<(Vec<Pinned>, ScratchDirectory), Error> {
    let pinned = lock::read(&project.files)?;
    for file in NOT_READ.iter().filter(|file| project.files.contains_key(**file)) {
        progress.line(format!("{file} is not read: builds take no settings from the project"));
    }
    let scratch = workbench.scratches.make().map_err(Error::internal)?;
    let (source, files) = (cargo::source(&scratch), project.files.clone());
    let write = move || disk::write_all(&source, &files);
    tokio::task::spawn_blocking(write).await.map_err(Error::internal)?.map_err(Error::internal)?;
    workbench.rust.crates.vendor(&pinned, &cargo::vendor(&scratch), progress).await?;
    Ok((pinned, scratch))
}

/// The component's code, when it is a tool whose compilation costs no more than it may.
async fn inspected(artefact: &Artefact, workbench: &Workbench) -> Result<Arc<runner::NativeCode>, Error> {
    let component = artefact.bytes().clone();
    let inspect = move || inspect::inspect_tool(&component);
    tokio::task::spawn_blocking(inspect).await.map_err(Error::internal)??;
    let digest: Digest = artefact.component_digest();
    let bytes = async { Ok::<_, Error>(artefact.bytes().to_vec()) };
    workbench.images.compiler().ready(&digest, Maker::Author, bytes).await
}

async fn input_schema(code: &runner::NativeCode, workbench: &Workbench) -> Result<Option<String>, Error> {
    let schema = bundle::input_schema(code, &workbench.config.bundler).await?;
    let untold = "the tool does not tell what its input is: name it with `lathe::tool!`, or set input_schema to a file";
    schema.map(Some).ok_or_else(|| Error::failed("schema", "input-schema", untold, crate::Place::default()))
}

impl From<Pinned> for Package {
    fn from(Pinned { name, version, checksum, .. }: Pinned) -> Self {
        Self { kind: "cargo", name, version, hash: Some(Hash::sha256(checksum.to_hex())) }
    }
}
