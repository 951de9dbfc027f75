//! The whole pipeline on an author's machine: the files of a directory in, what came of them out. It has no server, no git
//! and no store; all else is as a publication has it.

use std::collections::BTreeMap;

use registry::{EnvvarName, OrganizationId, SecretValue};
use runner::{EventSink, Input, Trial, Trials, Tried};

use crate::Config;
use crate::build::Built;
use crate::checks::{self, Checked, Until};
use crate::error::Error;
use crate::given::{Fields, given};
use crate::images::Images;
use crate::progress::Progress;
use crate::workbench::Workbench;

/// What tools are told of the organisation that they run for.
const ORGANIZATION: &str = "local";
/// Where the values of variables are looked for, in the words of the command line.
const FIELDS: Fields = Fields { envvars: "--envvar", secrets: "--secret" };

/// Builds, checks and runs projects here.
pub struct Workshop {
    organization: OrganizationId,
    workbench: Workbench,
    trials: Trials,
}

impl Workshop {
    /// # Errors
    /// When an image is damaged, or the system's certificates cannot be used.
    pub fn new(config: Config, trials: Trials) -> Result<Self, Error> {
        let organization = OrganizationId::parse(ORGANIZATION).map_err(Error::internal)?;
        let images = Images::unstored(trials.compiler().clone())?;
        Ok(Self { organization, workbench: Workbench::open(config, images)?, trials })
    }

    /// Builds a project.
    ///
    /// # Errors
    /// The first stage that refuses it.
    pub async fn build(&self, files: BTreeMap<String, Vec<u8>>, progress: &Progress) -> Result<Built, Error> {
        let built = self.workbench.build(files, progress).await?;
        built.artefact.make_ready(self.trials.compiler()).await?;
        Ok(built)
    }

    /// Runs all checks of what was built.
    ///
    /// # Errors
    /// When they take too long together, or a run fails on the host's side.
    pub async fn check(&self, built: &Built, progress: &Progress) -> Result<Vec<Checked>, Error> {
        let subject = built.subject(&self.organization);
        let checking = async {
            // Its caller shows them.
            checks::run(&subject, &built.checks.read()?, &self.trials, Until::End, |_| {}).await
        };
        progress.step(checks::STAGE, checking).await
    }

    /// Runs one input, with the mocks of the project as the only world.
    ///
    /// # Errors
    /// When a required variable has no value, or the run fails on the host's side.
    pub async fn run(
        &self,
        built: &Built,
        input: Input,
        envvars: BTreeMap<EnvvarName, String>,
        secrets: BTreeMap<EnvvarName, SecretValue>,
        events: EventSink,
    ) -> Result<Tried, Error> {
        let variables = given(&built.manifest, envvars, secrets, FIELDS)?;
        let trial = Trial {
            organization: &self.organization,
            tool_name: &built.tool_name(),
            code: built.artefact.code(),
            settings: &built.settings,
            input_schema: &built.validator,
            input,
            variables,
            mocks: &built.mocks,
            clock: None,
            conversation: None,
            events,
        };
        Ok(self.trials.run(trial).await?)
    }
}
