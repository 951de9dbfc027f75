//! What builds in every language need of this machine, made once.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::Config;
use crate::build::{Built, build};
use crate::error::Error;
use crate::images::Images;
use crate::progress::Progress;
use crate::sandbox::{Missing, Sandbox, Scratches};
use crate::snapshots::Snapshots;
use crate::steps::dependencies::Packages;
use crate::steps::npm::NpmPackages;
use crate::toolchain::rust::Rust;
use crate::toolchain::{self, Made, Project};
use crate::workers::Workers;

#[derive(Clone)]
pub struct Workbench {
    pub(crate) config: Arc<Config>,
    pub(crate) images: Images,
    pub(crate) packages: Packages,
    pub(crate) npm: NpmPackages,
    pub(crate) rust: Rust,
    pub(crate) snapshots: Snapshots,
    pub(crate) scratches: Scratches,
    sandbox: Arc<OnceCell<Sandbox>>,
    /// Who makes what runs, when this process does not.
    workers: Option<Workers>,
}

impl Workbench {
    /// # Errors
    /// When the scratch directory, or the system's certificates, cannot be used.
    pub fn open(config: Config, images: Images) -> Result<Self, Error> {
        let packages = Packages::new(config.python_index.as_deref(), &config.cache_dir)?;
        let npm = NpmPackages::new(config.npm_registry.as_deref(), &config.cache_dir)?;
        let rust = Rust::new(&config)?;
        let snapshots = Snapshots::open(&config, images.compiler())?;
        let scratches = Scratches::open(&config.scratch_dir).map_err(Error::internal)?;
        let (config, sandbox) = (Arc::new(config), Arc::default());
        Ok(Self { config, images, packages, npm, rust, snapshots, scratches, sandbox, workers: None })
    }

    /// Has workers do what takes an author's code.
    #[must_use]
    pub fn with_workers(self, workers: Workers) -> Self {
        Self { workers: Some(workers), ..self }
    }

    /// Removes what builds of a process that died left behind. Whoever calls it is alone with the directory.
    ///
    /// # Errors
    /// When that cannot be removed.
    pub fn sweep(&self) -> Result<(), Error> {
        self.scratches.sweep().map(drop).map_err(Error::internal)
    }

    #[must_use]
    pub const fn images(&self) -> &Images {
        &self.images
    }

    /// The sandbox for builds in which an author's code runs natively. It is looked for until it is there, so that an
    /// operator who mends the machine needs no restart.
    ///
    /// # Errors
    /// What is missing, and the command that mends it.
    pub async fn sandbox(&self) -> Result<Sandbox, Missing> {
        let probe = || Sandbox::probe(self.config.bubblewrap.as_deref(), &self.config.scratch_dir);
        self.sandbox.get_or_try_init(probe).await.cloned()
    }

    /// Builds a project out of its files.
    ///
    /// # Errors
    /// The first stage that refuses it.
    pub async fn build(&self, files: BTreeMap<String, Vec<u8>>, progress: &Progress) -> Result<Built, Error> {
        build(files, self, progress).await
    }

    /// Makes what runs, here or in a worker.
    ///
    /// # Errors
    /// The first stage that refuses the project.
    pub(crate) async fn make(&self, project: Project<'_>, progress: &Progress) -> Result<Made, Error> {
        match &self.workers {
            None => toolchain::make(project, self, progress).await,
            Some(workers) => workers.make(project, &self.images, progress).await,
        }
    }
}
