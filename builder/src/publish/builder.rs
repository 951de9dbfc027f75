//! The builder of branches and versions: the part that publications, tests and verifications share.

use std::time::Duration;

use registry::{
    Admission, Admitted, Artifacts, BranchName, Digest, Language, OrganizationId, Principal, ProjectPath, QueueFull,
    Store,
};
use repository::{CommitId, HeldCommit, Repositories, Repository, export_project};
use runner::{Invoker, TrialRunner};

use crate::blocking::blocking;
use crate::build::{ManifestCheck, Pipeline, Sources};
use crate::built::Built;
use crate::checks::{self, Checker};
use crate::config::Config;
use crate::conventions::PROJECT_FILES;
use crate::error::Error;
use crate::images::Images;
use crate::progress::BuildProgress;
use crate::sandbox::{Missing, Sandbox};
use crate::text::show;
use crate::toolchain::project::Caches;
use crate::workers::Workers;

/// Time that a build may wait for a permit.
const BUILD_WAIT_MAX: Duration = Duration::from_secs(60);
/// The retry hint for refused builds. Most builds take a few seconds.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Time that a build may take. A build of many large packages from a slow index takes minutes.
const BUILD_WALL_MAX: Duration = Duration::from_secs(600);

/// Builds branches and publishes versions.
#[derive(Clone)]
pub struct Builder {
    pub(super) store: Store,
    pub(super) artifacts: Artifacts,
    pub(super) invoker: Invoker,
    pub(super) trials: TrialRunner,
    repositories: Repositories,
    pipeline: Pipeline,
    builds: Admission,
}

/// The services that a [`Builder`] uses.
pub struct BuilderServices {
    pub store: Store,
    pub artifacts: Artifacts,
    pub repositories: Repositories,
    pub invoker: Invoker,
}

impl Builder {
    /// Stores the language images. Their code is compiled when first needed,
    /// or by [`Builder::prepare`].
    ///
    /// # Errors
    /// When an image is damaged or cannot be stored.
    pub async fn new(config: Config, services: BuilderServices) -> Result<Self, Error> {
        let BuilderServices { store, artifacts, repositories, invoker } = services;
        let images = Images::store(artifacts.clone(), invoker.compiler().clone()).await?;
        let (builds, trials) = (Admission::new("builds", config.builds), invoker.trial_runner()?);
        let listen = |endpoint| Workers::listen(endpoint, images.clone());
        let workers = config.workers.clone().map(listen).transpose()?;
        let pipeline = Pipeline::open(config, images)?;
        pipeline.toolchains().sweep()?;
        let pipeline = pipeline.with_workers(workers);
        Ok(Self { store, artifacts, repositories, pipeline, builds, invoker, trials })
    }

    /// The sandbox for builds in which an author's code runs natively.
    ///
    /// # Errors
    /// With the missing part and the command that adds it.
    pub async fn sandbox(&self) -> Result<Sandbox, Missing> {
        self.pipeline.toolchains().sandbox().await
    }

    /// Compiles the image of the default language on this node, and returns its digest. The first call takes seconds.
    ///
    /// # Errors
    /// When the compiling child process fails.
    pub async fn prepare(&self) -> Result<Digest, Error> {
        Ok(self.pipeline.toolchains().images().prepare(Language::Python).await?.image.digest)
    }

    /// Whether another server, or the next start of the only one, can carry a publication out when this one is gone: it needs the
    /// repositories.
    #[must_use]
    pub fn outlives_server(&self) -> bool {
        !self.store.is_shared() || self.repositories.are_shared()
    }

    /// Stores the image of a version's language, or renews its time.
    pub(super) async fn keep_image(&self, language: Language) -> Result<(), Error> {
        self.pipeline.toolchains().images().keep(language).await
    }

    /// Runs the project's checks, alongside all other runs, up to the first that fails.
    pub(super) async fn check(
        &self,
        principal: &Principal,
        built: &Built,
        progress: &BuildProgress,
    ) -> Result<(), Error> {
        let checking = async {
            built.compile_expensive(self.trials.schemas(), &principal.organization).await?;
            built.artifact.make_ready(self.trials.compiler()).await?;
            let checker = Checker { subject: built.subject(&principal.organization), trials: &self.trials };
            checker.require(&built.checks, progress).await
        };
        progress.run_step(checks::STAGE, checking).await
    }

    /// Warns of calls of tools that the organisation does not have. They fail until there is such a tool.
    pub(super) async fn warn_of_calls(
        &self,
        principal: &Principal,
        built: &Built,
        progress: &BuildProgress,
    ) -> Result<(), Error> {
        for name in built.manifest.calls.keys() {
            if self.store.tools().find_live_tool(&principal.organization, name).await?.is_none() {
                progress.warn(format!("calls.{name}: the organisation has no tool of this name: calls of it fail"));
            }
        }
        Ok(())
    }

    /// Admits a build to the queue for permits, before anything is recorded or held.
    pub(super) fn admit(&self, principal: &Principal) -> Result<Admitted, Error> {
        self.builds.admit(&principal.organization, 1).map_err(|full| match full {
            QueueFull::Organization => Error::TooManyBuilds { retry_after: RETRY_AFTER },
            QueueFull::Process => Error::Overloaded { retry_after: RETRY_AFTER },
        })
    }

    pub(super) async fn build(
        &self,
        of: Commit<'_>,
        admitted: &Admitted,
        progress: &BuildProgress,
    ) -> Result<Built, Error> {
        let waiting = tokio::time::timeout(BUILD_WAIT_MAX, admitted.permit()).await;
        let permit = waiting.map_err(|_| Error::Overloaded { retry_after: RETRY_AFTER })?;
        let _permit = permit.ok_or_else(|| Error::internal("the builder is shutting down"))?;
        let pipeline = self.pipeline.of(admitted.organization());
        tokio::time::timeout(BUILD_WALL_MAX, of.build(&pipeline, progress)).await.map_err(|_| {
            let message = format!("the build took longer than {} s", BUILD_WALL_MAX.as_secs());
            Error::failed("build", "deadline", message)
        })?
    }

    /// The organisation's repository, which the first call creates.
    ///
    /// # Errors
    /// When the repository cannot be created.
    pub async fn repository(&self, organization: &OrganizationId) -> Result<Repository, Error> {
        if let Some(found) = self.repositories.find_current(organization).await? {
            return Ok(found);
        }
        let files = scaffold::main_branch().map_err(Error::internal)?;
        let files = files.into_iter().map(|file| (file.path, file.bytes.into_owned())).collect();
        Ok(self.repositories.create(organization, files).await?)
    }

    /// Keeps a commit, whatever happens to its branch.
    pub(super) async fn pin(&self, repository: &Repository, commit: CommitId) -> Result<(), Error> {
        Ok(self.repositories.pin(repository, commit).await?)
    }

    /// The branch's tip in the organisation's repository. The commit stays readable as long as it is held.
    pub(super) async fn hold_tip(
        &self,
        principal: &Principal,
        branch: BranchName,
    ) -> Result<(Repository, HeldCommit), Error> {
        let repository = self.repository(&principal.organization).await?;
        blocking(move || {
            let commit = repository.hold_branch_tip(&branch)?;
            Ok((repository, commit))
        })
        .await?
    }

    /// A commit of the organisation's repository, held like [`Builder::hold_tip`].
    pub(super) async fn commit(
        &self,
        principal: &Principal,
        commit: CommitId,
    ) -> Result<(Repository, HeldCommit), Error> {
        let repository = self.repository(&principal.organization).await?;
        blocking(move || {
            let commit = repository.hold_commit(commit)?;
            Ok((repository, commit))
        })
        .await?
    }
}

/// A commit by its id and its subject.
async fn find_name(repository: &Repository, id: CommitId) -> Result<String, Error> {
    let repository = repository.clone();
    let subject = blocking(move || repository.subject(&id)).await?;
    Ok(subject.map_or_else(|| format!("commit {id}"), |subject| format!("commit {id}: {}", show(&subject))))
}

/// A project at a commit.
pub(super) struct Commit<'a> {
    pub repository: &'a Repository,
    pub id: CommitId,
    pub project_path: &'a ProjectPath,
    /// The branch whose tip the commit is, for messages.
    pub branch: Option<&'a BranchName>,
    pub caches: Caches,
    pub accepts: ManifestCheck<'a>,
}

impl<'a> Commit<'a> {
    pub const fn new(repository: &'a Repository, id: CommitId, project_path: &'a ProjectPath) -> Self {
        Self { repository, id, project_path, branch: None, caches: Caches::Used, accepts: &|_| Ok(()) }
    }

    async fn build(self, pipeline: &Pipeline, progress: &BuildProgress) -> Result<Built, Error> {
        let Self { repository, id, project_path, branch, caches, accepts } = self;
        progress.line(find_name(repository, id).await?);
        let (repository, path) = (repository.clone(), project_path.clone());
        let export = async {
            let exported = blocking(move || export_project(&repository, &id, &path, &PROJECT_FILES)).await?;
            exported.map_err(|error| Error::from(error.on_branch(branch)))
        };
        let tree = progress.run_step("checkout", export).await?;
        pipeline.build(Sources { files: tree.files, caches, accepts }, progress).await
    }
}
