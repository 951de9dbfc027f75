//! A build of a branch for a test: as a publication, up to where a version would be saved.

use std::collections::BTreeMap;

use registry::{BranchName, EnvvarName, Principal, ProjectPath, SecretValue, ToolName, Variables};
use runner::{Admitted, Candidate, Standins};
use tracing::Instrument;

use super::{Builder, ReplayGate, rehearsing};
use crate::build::Built;
use crate::error::Error;
use crate::given::{Fields, given};
use crate::metrics;
use crate::progress::Progress;
use crate::source::CommitId;

/// Where requests have the values of variables.
const FIELDS: Fields = Fields { envvars: "required_envvars", secrets: "required_secret_envvars" };

#[derive(Debug, Clone)]
pub struct TestRequest {
    pub project_path: ProjectPath,
    pub commit_branch: BranchName,
    pub envvars: BTreeMap<EnvvarName, String>,
    pub secrets: BTreeMap<EnvvarName, SecretValue>,
    /// Recorded runs of the tool of the same name that it has to answer as they were answered.
    pub gate: Option<ReplayGate>,
}

impl Builder {
    /// Builds a branch for a test. Nothing of it is kept.
    ///
    /// # Errors
    /// What refused the build, or a required variable without a value.
    pub async fn build_branch(
        &self,
        principal: &Principal,
        request: TestRequest,
        progress: Progress,
    ) -> Result<Candidate, Error> {
        let admitted = self.admit(principal)?;
        let span = tracing::info_span!("build", kind = "test");
        metrics::counted("test", self.build_candidate(principal, request, &admitted, &progress).instrument(span)).await
    }

    /// Builds a branch for a replay, which brings its own variables.
    ///
    /// # Errors
    /// What refused the build.
    pub async fn build_for_replay(
        &self,
        principal: &Principal,
        project_path: ProjectPath,
        commit_branch: BranchName,
        progress: Progress,
    ) -> Result<Candidate, Error> {
        let admitted = self.admit(principal)?;
        let span = tracing::info_span!("build", kind = "replay");
        let build = async {
            let (repository, commit) = self.tip(principal, commit_branch).await?;
            let built = self.build(&repository, commit, &project_path, &admitted, &progress).await?;
            self.candidate(principal, &built, commit).await
        };
        metrics::counted("replay", build.instrument(span)).await
    }

    async fn build_candidate(
        &self,
        principal: &Principal,
        request: TestRequest,
        admitted: &Admitted,
        progress: &Progress,
    ) -> Result<Candidate, Error> {
        let (repository, commit) = self.tip(principal, request.commit_branch).await?;
        let built = self.build(&repository, commit, &request.project_path, admitted, progress).await?;
        let variables = given(&built.manifest, request.envvars, request.secrets, FIELDS)?;
        self.check(principal, &built, progress).await?;
        let candidate = self.candidate(principal, &built, commit).await?;
        if let Some((gate, tool)) = request.gate.zip(candidate.tool.as_ref()) {
            let rehearse = self.rehearse(principal, tool, &candidate, gate, progress);
            progress.step(rehearsing::STAGE, rehearse).await?;
        }
        Ok(Candidate { variables, ..candidate })
    }

    /// What was built, without variables.
    pub(super) async fn candidate(
        &self,
        principal: &Principal,
        built: &Built,
        commit: CommitId,
    ) -> Result<Candidate, Error> {
        let name = built.tool_name();
        let tool = match ToolName::parse(&name) {
            Ok(name) => self.store.find_live_tool(&principal.organization, &name).await?,
            Err(_) => None,
        };
        Ok(Candidate {
            tool: tool.map(|tool| tool.id),
            tool_name: name,
            code: built.artefact.code(),
            input_schema: built.validator.clone(),
            mocks: Standins::new(&built.mocks).into(),
            settings: built.settings.clone(),
            variables: Variables::default(),
            required_envvars: built.manifest.required_envvars.clone(),
            required_secret_envvars: built.manifest.required_secret_envvars.clone(),
            commit: commit.to_string(),
        })
    }
}
