//! The shell of a build: lease → checkout → build → save. The only file of the
//! crate that touches the store, with [`branch_test`], which keeps nothing.

mod attesting;
mod branch_test;
mod gating;
mod rehearsing;
mod repetition;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use registry::{
    Artifacts, BranchName, BumpKind, Digest, FailedBuild, Lease, NewVersion, Operation, OperationId, OrganizationId,
    Principal, ProjectPath, Store, ToolId, ToolVersion, Version,
};
use runner::{Admission, Admitted, Full, Invoker, NativeCode, Trials};
use tracing::Instrument;

use crate::Config;
use crate::build::Built;
use crate::checks;
use crate::error::{Error, Place};
use crate::images::Images;
use crate::metrics;
use crate::progress::Progress;
use crate::source::{self, CommitId, Repositories, Repository};
use crate::workbench::Workbench;
use crate::workers::Workers;
use attesting::Origin;
pub use branch_test::TestRequest;
pub use rehearsing::ReplayGate;
pub use verify::{Verification, VersionDifference};

/// How long a lease outlives a holder that died.
const LEASE_TTL: Duration = Duration::from_secs(30);
/// Three chances to renew before it runs out.
const LEASE_RENEWAL: Duration = Duration::from_secs(10);

/// How long a build may wait for its turn.
const BUILD_WAIT_MAX: Duration = Duration::from_secs(60);
/// A build that waits before another takes some seconds.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// A build of many large packages from a slow index takes minutes.
const BUILD_WALL_MAX: Duration = Duration::from_secs(600);

#[derive(Debug, Clone)]
pub struct PublishRequest {
    pub project_path: ProjectPath,
    /// The least that the changes need, when none is named.
    pub bump: Option<BumpKind>,
    /// Recorded runs that it has to answer as they were answered.
    pub gate: Option<ReplayGate>,
    /// The team's branch when none is named.
    pub commit_branch: Option<BranchName>,
    /// The build is remembered as that of this operation.
    pub operation: Option<OperationId>,
    /// Publish the same commit the same way again, although that was done a
    /// moment ago.
    pub is_deliberate: bool,
}

/// Builds branches, and publishes what it built.
#[derive(Clone)]
pub struct Builder {
    store: Store,
    artifacts: Artifacts,
    repositories: Repositories,
    workbench: Workbench,
    builds: Admission,
    invoker: Invoker,
    trials: Trials,
}

impl Builder {
    /// Stores the language images. Their code is compiled when first needed,
    /// or by [`Builder::prepare`].
    ///
    /// # Errors
    /// When the image is damaged or cannot be stored.
    pub async fn new(
        config: Config,
        store: Store,
        artifacts: Artifacts,
        repositories: Repositories,
        invoker: Invoker,
    ) -> Result<Self, Error> {
        let images = Images::store(artifacts.clone(), invoker.compiler().clone()).await?;
        let (builds, trials) = (Admission::new("builds", config.builds), invoker.trials()?);
        let workers = config.workers.clone().map(Workers::listen).transpose()?;
        let workbench = Workbench::open(config, images)?;
        workbench.sweep()?;
        let workbench = workers.into_iter().fold(workbench, Workbench::with_workers);
        Ok(Self { store, artifacts, repositories, workbench, builds, invoker, trials })
    }

    /// What builds need of this machine.
    #[must_use]
    pub const fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// Inspects and compiles the language images on this node, which takes seconds, once.
    ///
    /// # Errors
    /// When the compiling child fails.
    pub async fn prepare(&self) -> Result<Arc<NativeCode>, Error> {
        self.workbench.images().python_code().await
    }

    /// What [`Builder::prepare`] makes ready.
    #[must_use]
    pub const fn image_digest(&self) -> &Digest {
        &self.workbench.images().python().digest
    }

    /// Publishes the tip of a branch as the next version.
    ///
    /// # Errors
    /// Busy when another operation runs on the tool; otherwise
    /// [`Error::Recorded`] around what refused the build. No version exists
    /// then, and the tool is free again.
    pub async fn publish(
        &self,
        principal: &Principal,
        tool: ToolId,
        request: PublishRequest,
        progress: Progress,
    ) -> Result<Version, Error> {
        let admitted = self.admit(principal)?;
        let lease = self.store.acquire_lease(principal, &tool, Operation::Publish, LEASE_TTL).await?;
        let renewal = self.keep_alive(lease.clone());
        let publishing = self.publish_under(&lease, principal, request, &admitted, &progress);
        let span = tracing::info_span!("build", kind = "publish", %tool, build = %lease.build);
        let published = metrics::counted("publish", publishing.instrument(span)).await;
        drop(renewal);
        match published {
            Ok(version) => Ok(version),
            Err(error) => Err(self.recorded(lease, error, &progress).await),
        }
    }

    /// Keeps why a build failed, and says under which id.
    async fn recorded(&self, lease: Lease, error: Error, progress: &Progress) -> Error {
        tracing::info!(tool = %lease.tool, build = %lease.build, %error, "a build failed");
        let failed = FailedBuild { stage: error.stage().into(), message: error.to_string(), log: progress.log() };
        if let Err(error) = self.store.record_failed_build(&lease, failed).await {
            tracing::error!(tool = %lease.tool, %error, "a failed build could not be recorded");
        }
        Error::Recorded { build: lease.build, error: Box::new(error) }
    }

    fn keep_alive(&self, lease: Lease) -> AbortOnDrop {
        let store = self.store.clone();
        AbortOnDrop(tokio::spawn(async move {
            loop {
                tokio::time::sleep(LEASE_RENEWAL).await;
                if let Err(error) = store.renew_lease(&lease, LEASE_TTL).await {
                    tracing::warn!(tool = %lease.tool, %error, "a lease could not be renewed");
                }
            }
        }))
    }

    async fn publish_under(
        &self,
        lease: &Lease,
        principal: &Principal,
        request: PublishRequest,
        admitted: &Admitted,
        progress: &Progress,
    ) -> Result<Version, Error> {
        if let Some(operation) = &request.operation {
            self.store.link_build(&lease.organization, operation, &lease.build).await?;
        }
        let branch = match request.commit_branch.clone() {
            Some(branch) => branch,
            None => team_branch(principal)?,
        };
        let (repository, commit) = self.tip(principal, branch.clone()).await?;
        self.refuse_older(&repository, principal, lease, commit).await?;
        self.refuse_repetition(lease, &request, &branch, commit).await?;
        let built = self.build(&repository, commit, &request.project_path, admitted, progress).await?;
        self.check(principal, &built, progress).await?;
        let bump = progress.step("gate", self.bump(lease, request.bump, &built, progress)).await?;
        if let Some(gate) = request.gate {
            let candidate = self.candidate(principal, &built, commit).await?;
            progress.step(rehearsing::STAGE, self.rehearse(principal, &lease.tool, &candidate, gate, progress)).await?;
        }
        progress.step("store", self.store_artifacts(&built)).await?;
        let origin = Origin { branch: &branch, commit, project_path: &request.project_path, bump };
        let attestation = Some(self.attest(lease, &built, origin).await?);
        let of = repository.clone();
        let version = NewVersion {
            bump,
            required_envvars: built.manifest.required_envvars,
            required_secret_envvars: built.manifest.required_secret_envvars,
            input_schema: built.input_schema,
            commit: commit.to_string(),
            commit_branch: branch,
            scaffold_commit: blocking(move || scaffold_commit(&of)).await?,
            project_path: request.project_path,
            settings: built.settings,
            image_digest: built.artefact.code().component,
            bundle_digest: built.artefact.bundle_digest(),
            component_digest: built.artefact.component_digest(),
            build_log: progress.log(),
            attestation,
        };
        let save = self.save(lease, version, repository, commit);
        Ok(progress.step("publish", save).await?.version)
    }

    /// Runs the project's checks, among all other runs, up to the first that fails.
    async fn check(&self, principal: &Principal, built: &Built, progress: &Progress) -> Result<(), Error> {
        let checking = async {
            built.artefact.make_ready(self.trials.compiler()).await?;
            let subject = built.subject(&principal.organization);
            checks::require(&subject, &built.checks, &self.trials, progress).await
        };
        progress.step(checks::STAGE, checking).await
    }

    /// Before anything names them.
    async fn store_artifacts(&self, built: &Built) -> Result<(), Error> {
        if let Some(mocks) = built.mocks.artifact().map_err(Error::internal)? {
            self.artifacts.put(mocks).await?;
        }
        if let Some(snapshot) = built.artefact.snapshot() {
            self.artifacts.put(snapshot.clone()).await?;
        }
        self.artifacts.put(built.artefact.bytes().clone()).await?;
        Ok(())
    }

    /// Pins the commit, then makes the version visible. The pin stays when that
    /// is refused: another tool may have published the same commit meanwhile.
    async fn save(
        &self,
        lease: &Lease,
        version: NewVersion,
        repository: Repository,
        commit: CommitId,
    ) -> Result<ToolVersion, Error> {
        blocking(move || Ok(repository.pin(&commit, &commit.to_string())?)).await?;
        Ok(self.store.publish_version(lease, version).await?)
    }

    /// Before anything is recorded or held: whether the build may wait for a place.
    fn admit(&self, principal: &Principal) -> Result<Admitted, Error> {
        self.builds.admit(&principal.organization, 1).map_err(|full| match full {
            Full::Organization => Error::TooManyBuilds { retry_after: RETRY_AFTER },
            Full::Process => Error::Overloaded { retry_after: RETRY_AFTER },
        })
    }

    async fn build(
        &self,
        repository: &Repository,
        commit: CommitId,
        project_path: &ProjectPath,
        admitted: &Admitted,
        progress: &Progress,
    ) -> Result<Built, Error> {
        let waiting = tokio::time::timeout(BUILD_WAIT_MAX, admitted.place()).await;
        let place = waiting.map_err(|_| Error::Overloaded { retry_after: RETRY_AFTER })?;
        let _place = place.ok_or_else(|| Error::internal("the builder is shutting down"))?;
        tokio::time::timeout(BUILD_WALL_MAX, self.build_now(repository, commit, project_path, progress))
            .await
            .map_err(|_| Error::failed("build", "deadline", "the build took too long", Place::default()))?
    }

    async fn build_now(
        &self,
        repository: &Repository,
        commit: CommitId,
        project_path: &ProjectPath,
        progress: &Progress,
    ) -> Result<Built, Error> {
        progress.line(format!("commit {commit}"));
        let (of, path) = (repository.clone(), project_path.clone());
        let export = blocking(move || Ok(source::export(&of, &commit, &path)?));
        let tree = progress.step("checkout", export).await?;
        self.workbench.build(tree.files, progress).await
    }

    /// The organisation's repository, made when it is first asked for.
    ///
    /// # Errors
    /// When the repository cannot be made.
    pub fn repository(&self, organization: &OrganizationId) -> Result<Repository, Error> {
        if let Some(found) = self.repositories.find(organization) {
            return Ok(found);
        }
        let files = scaffold::main_branch().map_err(Error::internal)?;
        let files: Vec<_> = files.into_iter().map(|file| (file.path, file.bytes.into_owned())).collect();
        Ok(self.repositories.ensure(organization, &files)?)
    }

    /// The branch's tip, in the organisation's repository.
    async fn tip(&self, principal: &Principal, branch: BranchName) -> Result<(Repository, CommitId), Error> {
        let (builder, organization) = (self.clone(), principal.organization.clone());
        blocking(move || {
            let repository = builder.repository(&organization)?;
            let commit = repository.require_branch_tip(&branch)?;
            Ok((repository, commit))
        })
        .await
    }
}

/// A task that ends with its owner, however that one ends.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs what waits for a disk away from the threads that answer requests.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

fn scaffold_commit(repository: &Repository) -> Result<String, Error> {
    let main = BranchName::parse("main").map_err(Error::internal)?;
    Ok(repository.require_branch_tip(&main)?.to_string())
}

fn team_branch(principal: &Principal) -> Result<BranchName, Error> {
    let name = format!("releases/{}", principal.organization);
    BranchName::parse(&name).map_err(Error::internal)
}
