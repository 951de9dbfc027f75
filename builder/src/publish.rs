//! Publications: lease → checkout → build → save. Only the files of this folder use the store.

mod branch_test;
mod builder;
mod bump;
mod publish_context;
mod repetition;
mod replay_gate;
mod request;
mod verify;
mod version_attestation;

use std::time::Duration;

use registry::{
    Admitted, BranchName, FailedBuild, Lease, MissingVariable, NewVersion, Principal, Tool, ToolVersion, Version,
};
use repository::{CommitId, HeldCommit, Repository};
use tokio::time::Instant;
use tracing::Instrument;

use crate::blocking::blocking;
use crate::built::Built;
use crate::error::Error;
use crate::metrics;
use crate::progress::BuildProgress;
use crate::steps::manifest::Manifest;
use crate::text::cut;
use branch_test::build_candidate;
pub use branch_test::{ReplayedBranch, TestRequest};
use builder::Commit;
pub use builder::{Builder, BuilderServices};
use publish_context::PublishContext;
use repetition::refuse_older;
use replay_gate::ReplayCandidate;
pub use replay_gate::ReplayGate;
pub use request::PublishRequest;
pub use verify::{Verification, VersionDifference};
use version_attestation::Origin;

/// Time after which a lease expires when its holder has died.
const LEASE_TTL: Duration = Duration::from_secs(30);
/// Time between two renewals, so that a holder can try three times before its lease expires.
const LEASE_RENEWAL: Duration = Duration::from_secs(10);

/// A version that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub version: Version,
    /// Declarations that most likely do not do what their author means.
    pub warnings: Vec<String>,
}

impl Builder {
    /// Publishes the tip of a branch as the next version.
    ///
    /// # Errors
    /// Busy when another operation runs on the tool. Otherwise [`Error::Recorded`] with the build's error; no version
    /// exists then, and the lease is released.
    pub async fn publish(
        &self,
        principal: &Principal,
        request: PublishRequest,
        progress: BuildProgress,
    ) -> Result<Published, Error> {
        let admitted = self.admit(principal)?;
        let lease = self.store.versions().acquire_lease(principal, &request.tool, LEASE_TTL).await?;
        let renewal = self.keep_alive(lease.clone());
        let publication = PublishContext { builder: self, principal, lease: &lease, progress: &progress };
        let began = Instant::now();
        let span = tracing::info_span!("build", kind = "publish", tool = %lease.tool, build = %lease.build);
        let publishing = publication.run(request, &admitted);
        let published = metrics::count_build("publish", publishing.instrument(span)).await;
        drop(renewal);
        match published {
            Ok(version) => {
                tracing::info!(
                    organization = %lease.organization, tool = %lease.tool, %version, build = %lease.build,
                    duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX), "published"
                );
                Ok(Published { version, warnings: progress.warnings() })
            }
            Err(error) => Err(self.record_failure(lease, error, &progress).await),
        }
    }

    /// Records a failed build, and returns its error with the build's id.
    async fn record_failure(&self, lease: Lease, error: Error, progress: &BuildProgress) -> Error {
        let message = cut(error.to_string());
        tracing::info!(tool = %lease.tool, build = %lease.build, error = message, "a build failed");
        let failed = FailedBuild { stage: error.stage().into(), message, log: progress.log() };
        if let Err(error) = self.store.versions().record_failed_build(&lease, failed).await {
            tracing::error!(tool = %lease.tool, %error, "a failed build could not be recorded");
        }
        Error::Recorded { build: lease.build, error: Box::new(error) }
    }

    fn keep_alive(&self, lease: Lease) -> AbortOnDrop {
        let store = self.store.clone();
        AbortOnDrop(tokio::spawn(async move {
            loop {
                tokio::time::sleep(LEASE_RENEWAL).await;
                if let Err(error) = store.versions().renew_lease(&lease, LEASE_TTL).await {
                    tracing::warn!(tool = %lease.tool, %error, "a lease could not be renewed");
                }
            }
        }))
    }

    /// Stores the artifacts of a build, before a version refers to them. The server is not ready while the disk refuses them.
    async fn store_artifacts(&self, built: &Built) -> Result<(), Error> {
        let stored = self.put_artifacts(built).await;
        if let Err(Error::Store(error)) = &stored {
            self.store.note_refused_artifact(error);
        }
        stored
    }

    async fn put_artifacts(&self, built: &Built) -> Result<(), Error> {
        if built.artifact.language_image().is_some() {
            self.keep_image(built.manifest.language).await?;
        }
        if let Some(mocks) = built.mocks.artifact().map_err(Error::internal)? {
            self.artifacts.put(mocks).await?;
        }
        if let Some(snapshot) = built.artifact.snapshot() {
            self.artifacts.put(snapshot.clone()).await?;
        }
        self.artifacts.put(built.artifact.bytes().clone()).await?;
        Ok(())
    }
}

impl PublishContext<'_> {
    async fn run(&self, request: PublishRequest, admitted: &Admitted) -> Result<Version, Error> {
        let Self { builder, principal, lease, progress } = *self;
        let branch = match request.commit_branch.clone() {
            Some(branch) => branch,
            None => name_team_branch(principal)?,
        };
        let (repository, held) = self.hold_source(&request, branch.clone()).await?;
        let commit = held.commit();
        // While the lease is held, no version is published and none is deprecated.
        let highest = builder.store.versions().highest_version(&lease.organization, &lease.tool).await?;
        refuse_older(&repository, commit, highest.as_ref()).await?;
        self.refuse_repetition(&request, &branch, commit).await?;
        let tool =
            builder.store.tools().get_tool(&lease.organization, &lease.tool).await?.ok_or(Error::ToolNotFound)?;
        let accepts = |manifest: &Manifest| has_variables(&tool, manifest);
        let of = Commit::new(&repository, commit, &request.project_path);
        let of = Commit { branch: Some(&branch), accepts: &accepts, ..of };
        let built = builder.build(of, admitted, progress).await?;
        builder.warn_of_calls(principal, &built, progress).await?;
        builder.check(principal, &built, progress).await?;
        let bump = progress.run_step("gate", self.choose_bump(request.bump, &built, highest.as_ref())).await?;
        if let Some(gate) = request.gate {
            let candidate = &build_candidate(&built, commit);
            let replayed = ReplayCandidate { principal, tool: &lease.tool, candidate, gate };
            progress.run_step(replay_gate::STAGE, builder.pass_replay_gate(replayed, progress)).await?;
        }
        progress.run_step("store", builder.store_artifacts(&built)).await?;
        let version = highest.map_or(Version::FIRST, |highest| highest.version.bump(bump));
        let origin = Origin { version, branch: &branch, commit, project_path: &request.project_path, bump };
        let attestation = self.attest(&built, origin).await?;
        let of = repository.clone();
        let version = NewVersion {
            bump,
            required_envvars: built.manifest.required_envvars,
            required_secret_envvars: built.manifest.required_secret_envvars,
            input_schema: built.input_schema,
            commit: commit.to_string(),
            commit_branch: branch,
            scaffold_commit: blocking(move || read_scaffold_commit(&of)).await??,
            project_path: request.project_path,
            settings: built.settings,
            image_digest: built.artifact.code().component,
            bundle_digest: built.artifact.bundle_digest(),
            component_digest: built.artifact.component_digest(),
            build_log: progress.log(),
            attestation,
        };
        let save = self.save(version, repository, commit);
        let published = progress.run_step("publish", save).await?;
        // From here on, the pin keeps the commit in the repository.
        drop(held);
        Ok(published.version)
    }

    /// The commit to publish, after it was recorded for the server that may have to go on with the operation.
    async fn hold_source(
        &self,
        request: &PublishRequest,
        branch: BranchName,
    ) -> Result<(Repository, HeldCommit), Error> {
        let Self { builder, principal, lease, .. } = *self;
        let found = match request.commit {
            Some(commit) => builder.commit(principal, commit).await,
            None => builder.hold_tip(principal, branch).await,
        };
        if let Some(operation) = &request.operation {
            let commit = found.as_ref().ok().map(|(_, held)| held.commit().to_string());
            builder.store.operations().link_build(lease, operation, commit).await?;
        }
        found
    }

    /// Pins the commit, then publishes the version. The pin stays when publication fails, since another tool may have
    /// published the same commit.
    async fn save(&self, version: NewVersion, repository: Repository, commit: CommitId) -> Result<ToolVersion, Error> {
        self.builder.pin(&repository, commit).await?;
        Ok(self.builder.store.versions().publish_version(self.lease, version).await?)
    }
}

/// A task that is aborted when its owner is dropped.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Refuses a version whose variables the tool lacks, before minutes of building. The transaction that publishes the version
/// checks again.
fn has_variables(tool: &Tool, manifest: &Manifest) -> Result<(), Error> {
    let missing = MissingVariable::all(tool, &manifest.required_envvars, &manifest.required_secret_envvars);
    if missing.is_empty() {
        return Ok(());
    }
    Err(registry::Error::VariablesMissing { tool: tool.name.to_string(), missing }.into())
}

fn read_scaffold_commit(repository: &Repository) -> Result<String, Error> {
    let main = BranchName::parse("main").map_err(Error::internal)?;
    Ok(repository.require_branch_tip(&main)?.to_string())
}

fn name_team_branch(principal: &Principal) -> Result<BranchName, Error> {
    let name = format!("{}{}", BranchName::RELEASES, principal.organization);
    BranchName::parse(&name).map_err(Error::internal)
}
