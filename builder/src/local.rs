//! Builds, checks and runs projects on an author's machine, as a publication does, but without a server, git or a store.

use std::collections::BTreeMap;

use registry::OrganizationId;
use runner::{EventSink, Input, Trial, TrialResult, TrialRunner};

use crate::build::{Pipeline, Sources};
use crate::built::Built;
use crate::checks::{self, Checked, Checker};
use crate::config::Config;
use crate::error::Error;
use crate::images::Images;
use crate::progress::BuildProgress;
use crate::steps::manifest::Manifest;
use crate::supplied_variables::SuppliedVariables;

/// The organisation that tools see.
const ORGANIZATION: &str = "local";

/// Builds, checks and runs projects of a directory.
pub struct LocalBuilder {
    organization: OrganizationId,
    pipeline: Pipeline,
    trials: TrialRunner,
}

/// One run of a built project.
pub struct LocalRun {
    pub input: Input,
    pub variables: SuppliedVariables,
    pub events: EventSink,
    /// Whether requests go to the hosts that the project declares. Otherwise the project's mocks answer all requests.
    pub reaches_hosts: bool,
}

impl LocalBuilder {
    /// # Errors
    /// When an image is damaged, or the system's certificates cannot be used.
    pub fn new(config: Config, trials: TrialRunner) -> Result<Self, Error> {
        let organization = OrganizationId::parse(ORGANIZATION).map_err(Error::internal)?;
        let images = Images::unstored(trials.compiler().clone());
        Ok(Self { organization, pipeline: Pipeline::open(config, images)?, trials })
    }

    /// Builds a project. `variables` are those of the inputs to run, if there are any.
    ///
    /// # Errors
    /// When a stage refuses the project, or a required variable has no value.
    pub async fn build(
        &self,
        files: BTreeMap<String, Vec<u8>>,
        variables: Option<&SuppliedVariables>,
        progress: &BuildProgress,
    ) -> Result<Built, Error> {
        let accepts = |manifest: &Manifest| variables.map_or(Ok(()), |variables| variables.suffice(manifest));
        let sources = Sources { accepts: &accepts, ..Sources::new(files) };
        let built = self.pipeline.build(sources, progress).await?;
        built.compile_expensive(self.trials.schemas(), &self.organization).await?;
        built.artifact.make_ready(self.trials.compiler()).await?;
        Ok(built)
    }

    /// Runs all checks of a built project.
    ///
    /// # Errors
    /// When the checks together take too long, or a run fails on the host's side.
    pub async fn check(&self, built: &Built, progress: &BuildProgress) -> Result<Vec<Checked>, Error> {
        let checker = Checker { subject: built.subject(&self.organization), trials: &self.trials };
        let checking = async {
            let checks = built.checks.read_blocking().await?;
            checker.run_all(&checks).await
        };
        progress.run_step(checks::STAGE, checking).await
    }

    /// Runs one input.
    ///
    /// # Errors
    /// When a required variable has no value, or the run fails on the host's side.
    pub async fn run(&self, built: &Built, run: LocalRun) -> Result<TrialResult, Error> {
        let LocalRun { input, variables, events, reaches_hosts } = run;
        let variables = variables.required_by(&built.manifest)?;
        let trial = Trial {
            organization: &self.organization,
            tool_name: &built.tool_name(),
            code: built.artifact.code(),
            settings: &built.settings,
            input_schema: &built.validator,
            input,
            variables,
            mocks: &built.mocks,
            tool_mocks: None,
            clock: None,
            conversation: None,
            events,
            reaches_hosts,
        };
        Ok(self.trials.run(trial).await?)
    }
}
