//! Toolchains: each turns the sources of one language into a component.
//!
//! A new language is a folder here, its conventions in [`crate::conventions`], a field and a match arm of [`Toolchains`], and its templates.

pub mod javascript;
pub mod pinned;
mod pins;
pub mod project;
pub mod python;
pub mod rust;
mod shared;

use std::sync::Arc;

use registry::Language;

use crate::config::Config;
use crate::error::Error;
use crate::images::Images;
use crate::progress::BuildProgress;
use crate::sandbox::{Missing, Sandbox, ScratchDirectory, Scratches};
use crate::snapshots::Snapshots;
use javascript::JavaScript;
use project::{Caches, Project, ToolchainOutput};
use python::Python;
use rust::Rust;
use shared::ToolchainParts;

/// The toolchains of this process. Clones share their caches.
#[derive(Clone)]
pub struct Toolchains {
    config: Arc<Config>,
    shared: ToolchainParts,
    javascript: JavaScript,
    python: Python,
    rust: Rust,
}

impl Toolchains {
    /// # Errors
    /// When the scratch directory, or the system's certificates, cannot be used.
    pub fn open(config: Config, images: Images) -> Result<Self, Error> {
        let snapshots = Snapshots::open(&config, images.compiler())?;
        let scratches = Scratches::open(&config.scratch_dir).map_err(Error::internal)?;
        let shared = ToolchainParts { images, snapshots, scratches };
        let (javascript, python) = (JavaScript::new(&config, &shared)?, Python::new(&config, &shared)?);
        let rust = Rust::new(&config, &shared)?;
        Ok(Self { config: Arc::new(config), shared, javascript, python, rust })
    }

    #[must_use]
    pub const fn images(&self) -> &Images {
        &self.shared.images
    }

    /// The sandbox for builds in which an author's code runs natively.
    ///
    /// # Errors
    /// The missing part, and the command that adds it.
    pub async fn sandbox(&self) -> Result<Sandbox, Missing> {
        self.rust.sandbox.get().await
    }

    /// Removes the temporary directories of an earlier process. No build may be running.
    ///
    /// # Errors
    /// When a directory cannot be removed.
    pub fn sweep(&self) -> Result<(), Error> {
        self.shared.scratches.sweep().map(drop).map_err(Error::internal)
    }

    /// Builds the component of a project.
    ///
    /// # Errors
    /// The first stage that refuses the project.
    pub async fn make(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        if project.caches == Caches::Used {
            return self.make_with_caches(project, progress).await;
        }
        let (toolchains, _directory) = self.with_empty_caches()?;
        toolchains.make_with_caches(project, progress).await
    }

    async fn make_with_caches(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        match project.manifest.language {
            Language::JavaScript => self.javascript.make(project, progress).await,
            Language::Python => self.python.make(project, progress).await,
            Language::Rust => self.rust.make(project, progress).await,
        }
    }

    /// The same toolchains with empty caches, in a directory that is removed with the second value.
    fn with_empty_caches(&self) -> Result<(Self, ScratchDirectory), Error> {
        let directory = self.shared.scratches.make().map_err(Error::internal)?;
        let config = Config { cache_dir: directory.path().to_owned(), ..(*self.config).clone() };
        let snapshots = Snapshots::open(&config, self.shared.images.compiler())?;
        let rust = self.rust.with_caches(&config)?;
        let shared = ToolchainParts { snapshots, ..self.shared.clone() };
        let javascript = self.javascript.with_caches(&config, &shared)?;
        let python = Python::new(&config, &shared)?;
        Ok((Self { config: Arc::new(config), shared, javascript, python, rust }, directory))
    }
}
