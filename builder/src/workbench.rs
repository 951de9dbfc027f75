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
use crate::steps::dependencies::Packages;
use crate::steps::npm::NpmPackages;
use crate::toolchain::rust::Rust;

#[derive(Clone)]
pub struct Workbench {
    pub(crate) config: Arc<Config>,
    pub(crate) images: Images,
    pub(crate) packages: Packages,
    pub(crate) npm: NpmPackages,
    pub(crate) rust: Rust,
    pub(crate) scratches: Scratches,
    sandbox: Arc<OnceCell<Sandbox>>,
}

impl Workbench {
    /// # Errors
    /// When the scratch directory, or the system's certificates, cannot be used.
    pub fn open(config: Config, images: Images) -> Result<Self, Error> {
        let packages = Packages::new(config.python_index.as_deref(), &config.cache_dir)?;
        let npm = NpmPackages::new(config.npm_registry.as_deref(), &config.cache_dir)?;
        let rust = Rust::new(&config)?;
        let scratches = Scratches::open(&config.scratch_dir).map_err(Error::internal)?;
        Ok(Self { config: Arc::new(config), images, packages, npm, rust, scratches, sandbox: Arc::default() })
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
}
