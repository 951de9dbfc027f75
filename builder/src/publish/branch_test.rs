//! Builds of branches for tests: the steps of a publication, without saving a version.

use registry::{BranchName, Principal, ProjectPath, ToolId, ToolName, Variables};
use repository::CommitId;
use runner::{Candidate, CompiledMocks};
use tracing::Instrument;

use super::builder::{Builder, Commit};
use super::replay_gate::{self, ReplayCandidate, ReplayGate};
use crate::built::Built;
use crate::error::Error;
use crate::metrics;
use crate::progress::BuildProgress;
use crate::steps::manifest::Manifest;
use crate::supplied_variables::SuppliedVariables;

#[derive(Debug, Clone)]
pub struct TestRequest {
    pub project_path: ProjectPath,
    pub commit_branch: BranchName,
    pub variables: SuppliedVariables,
    /// The replay gate that the branch must pass, with recorded runs of the live tool of the same name.
    pub gate: Option<ReplayGate>,
}

/// A branch whose code replays a recorded run.
#[derive(Debug, Clone)]
pub struct ReplayedBranch {
    pub project_path: ProjectPath,
    pub commit_branch: BranchName,
}

impl Builder {
    /// Builds a branch for a test. Nothing is stored.
    ///
    /// # Errors
    /// When a stage refuses the project, or a required variable has no value.
    pub async fn build_branch(
        &self,
        principal: &Principal,
        request: TestRequest,
        progress: BuildProgress,
    ) -> Result<Candidate, Error> {
        let admitted = self.admit(principal)?;
        let span = tracing::info_span!("build", kind = "test");
        let TestRequest { project_path, commit_branch, variables, gate } = request;
        let build = async {
            let (repository, held) = self.hold_tip(principal, commit_branch.clone()).await?;
            let commit = held.commit();
            let accepts = |manifest: &Manifest| variables.suffice(manifest);
            let of = Commit::new(&repository, commit, &project_path);
            let of = Commit { branch: Some(&commit_branch), accepts: &accepts, ..of };
            let built = self.build(of, &admitted, &progress).await?;
            self.warn_of_calls(principal, &built, &progress).await?;
            let variables = variables.required_by(&built.manifest)?;
            self.check(principal, &built, &progress).await?;
            let candidate = build_candidate(&built, commit);
            if let Some(gate) = gate
                && let Some(tool) = self.find_tool(principal, &candidate.tool_name).await?
            {
                let replayed = ReplayCandidate { principal, tool: &tool, candidate: &candidate, gate };
                progress.run_step(replay_gate::STAGE, self.pass_replay_gate(replayed, &progress)).await?;
            }
            Ok(Candidate { variables, ..candidate })
        };
        metrics::count_build("test", build.instrument(span)).await
    }

    /// Builds a branch for a replay, which supplies its own variables.
    ///
    /// # Errors
    /// When a stage refuses the project.
    pub async fn build_for_replay(
        &self,
        principal: &Principal,
        branch: ReplayedBranch,
        progress: BuildProgress,
    ) -> Result<Candidate, Error> {
        let admitted = self.admit(principal)?;
        let span = tracing::info_span!("build", kind = "replay");
        let ReplayedBranch { project_path, commit_branch } = branch;
        let build = async {
            let (repository, held) = self.hold_tip(principal, commit_branch.clone()).await?;
            let commit = held.commit();
            let of = Commit { branch: Some(&commit_branch), ..Commit::new(&repository, commit, &project_path) };
            let built = self.build(of, &admitted, &progress).await?;
            built.compile_expensive(self.trials.schemas(), &principal.organization).await?;
            Ok(build_candidate(&built, commit))
        };
        metrics::count_build("replay", build.instrument(span)).await
    }

    /// The live tool with the name of a project, if any.
    async fn find_tool(&self, principal: &Principal, name: &str) -> Result<Option<ToolId>, Error> {
        let Ok(name) = ToolName::parse(name) else { return Ok(None) };
        Ok(self.store.tools().find_live_tool(&principal.organization, &name).await?.map(|tool| tool.id))
    }
}

/// The candidate for a built tool, without variables.
pub(super) fn build_candidate(built: &Built, commit: CommitId) -> Candidate {
    Candidate {
        tool_name: built.tool_name(),
        code: built.artifact.code(),
        input_schema: built.validator.clone(),
        mocks: CompiledMocks::new(&built.mocks).into(),
        settings: built.settings.clone(),
        variables: Variables::default(),
        required_envvars: built.manifest.required_envvars.clone(),
        required_secret_envvars: built.manifest.required_secret_envvars.clone(),
        commit: commit.to_string(),
    }
}
