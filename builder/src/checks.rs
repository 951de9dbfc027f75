//! An author's checks: runs of the built tool whose results are compared with the expected ones.
//!
//! Checks use neither a store nor the network: a check supplies its variables, and mocks answer its requests.

mod difference;
mod file;
mod verdict;

use std::time::Duration;

use registry::{EnvvarName, OrganizationId, Variables, VersionSettings};
use runner::{Code, Input, InputSchema, Mock, Mocks, Trial, TrialRunner};
use tokio::time::{Instant, timeout_at};

use crate::error::{Error, Location};
use crate::progress::BuildProgress;
pub use file::{Check, CheckFiles, STAGE};
use verdict::Judge;

/// Time for all checks of a project. The publisher waits for them, and a tool may run for minutes.
const CHECKS_WALL_MAX: Duration = Duration::from_secs(120);
/// Bytes of a failure, which is shown, stored and sent as part of a message.
const FAILURE_BYTES_MAX: usize = 4 << 10;

/// The tool that checks run, in plain values.
pub struct Subject<'a> {
    pub organization: &'a OrganizationId,
    pub tool_name: String,
    pub code: Code,
    pub settings: &'a VersionSettings,
    pub input_schema: &'a InputSchema,
    pub mocks: &'a Mocks,
    pub required_envvars: &'a [EnvvarName],
    pub required_secret_envvars: &'a [EnvvarName],
}

/// The result of a check.
#[derive(Debug, Clone)]
pub struct Checked {
    pub name: String,
    pub file: String,
    pub duration_ms: u64,
    /// The reasons for the failure, one per line. `None` for a check that passed.
    pub failure: Option<String>,
    /// The tool's log, with secrets redacted.
    pub logs: String,
}

impl Checked {
    /// The error that refuses the build. `None` for a check that passed.
    fn refusal(&self) -> Option<Error> {
        let failure = self.failure.as_deref()?;
        Some(Error::failed(STAGE, &self.name, failure).at(Location::file(&self.file)))
    }
}

/// Runs the checks of one tool.
pub struct Checker<'a> {
    pub subject: Subject<'a>,
    pub trials: &'a TrialRunner,
}

impl Checker<'_> {
    /// Runs all checks, one after the other.
    ///
    /// # Errors
    /// When the checks together take too long, the queue is full, or a run fails on the host's side. A failing check is
    /// part of the result.
    pub async fn run_all(&self, checks: &[Check]) -> Result<Vec<Checked>, Error> {
        let deadline = Instant::now() + CHECKS_WALL_MAX;
        let mut ended = Vec::with_capacity(checks.len());
        for check in checks {
            ended.push(self.run_until(deadline, check).await?);
        }
        Ok(ended)
    }

    /// Reads checks and runs them up to the first that fails, which refuses the build.
    ///
    /// # Errors
    /// As [`Checker::run_all`], and when a check cannot be read or fails.
    pub async fn require(&self, files: &CheckFiles, progress: &BuildProgress) -> Result<(), Error> {
        let checks = files.read_blocking().await?;
        if checks.is_empty() {
            progress.line("no checks; add checks/*.json");
        }
        let deadline = Instant::now() + CHECKS_WALL_MAX;
        for check in &checks {
            let checked = self.run_until(deadline, check).await?;
            let end = if checked.failure.is_none() { "ok" } else { "FAILED" };
            progress.line(format!("check {}: {end} in {} ms", checked.name, checked.duration_ms));
            if let Some(refusal) = checked.refusal() {
                return Err(refusal);
            }
        }
        Ok(())
    }

    async fn run_until(&self, deadline: Instant, check: &Check) -> Result<Checked, Error> {
        timeout_at(deadline, self.run(check)).await.map_err(|_| too_slow(check))?
    }

    async fn run(&self, check: &Check) -> Result<Checked, Error> {
        let Self { subject, trials } = self;
        let checked = |duration: Duration, failure: Option<String>, logs: String| Checked {
            name: check.name.clone(),
            file: check.file.clone(),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            failure: failure.map(cut),
            logs,
        };
        let variables = match build_variables(subject, check) {
            Ok(variables) => variables,
            Err(problem) => return Ok(checked(Duration::ZERO, Some(problem), String::new())),
        };
        let mocks: Vec<Mock> = check.mocks.iter().chain(&subject.mocks.0).cloned().collect();
        let tried = trials
            .run(Trial {
                organization: subject.organization,
                tool_name: &subject.tool_name,
                code: subject.code.clone(),
                settings: subject.settings,
                input_schema: subject.input_schema,
                input: build_input(check),
                variables,
                mocks: &Mocks(mocks),
                tool_mocks: Some(&check.tool_mocks),
                clock: check.clock,
                conversation: check.conversation.clone(),
                events: Box::new(drop),
                reaches_hosts: false,
            })
            .await?;
        let judge = Judge { schemas: trials.schemas(), organization: subject.organization };
        let failure = judge.find_failure(&check.expected, &tried).await?;
        Ok(checked(tried.duration, failure.map(|text| tried.redacted(text)), tried.redacted_logs))
    }
}

fn build_input(check: &Check) -> Input {
    let sensitive = check.sensitive_user_variables.iter();
    Input {
        input_parameters: (&check.input_parameters).into(),
        invocation_mode: check.invocation_mode,
        nonsensitive_user_variables: check.nonsensitive_user_variables.clone(),
        sensitive_user_variables: sensitive.map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
    }
}

/// The values of the declared variables. A check supplies all of them and no others, so that its result does not depend
/// on where it runs.
fn build_variables(subject: &Subject<'_>, check: &Check) -> Result<Variables, String> {
    require_exactly(subject.required_envvars, check.envvars.keys(), "envvars", "required_envvars")?;
    require_exactly(subject.required_secret_envvars, check.secrets.keys(), "secrets", "required_secret_envvars")?;
    Ok(Variables { envvars: check.envvars.clone(), secrets: check.secrets.clone() })
}

fn require_exactly<'a>(
    required: &[EnvvarName],
    mut given: impl Iterator<Item = &'a EnvvarName> + Clone,
    key: &str,
    declaration: &str,
) -> Result<(), String> {
    if let Some(name) = required.iter().find(|name| !given.clone().any(|given| given == *name)) {
        return Err(format!("the tool requires the variable {name}; give it a value in the check's `{key}`"));
    }
    match given.find(|name| !required.contains(name)) {
        Some(name) => Err(format!(
            "the check gives {name} in `{key}`; add it to the project's `{declaration}`, or remove it from the check"
        )),
        None => Ok(()),
    }
}

fn too_slow(check: &Check) -> Error {
    let message = format!("all checks together took longer than {} s, up to this one", CHECKS_WALL_MAX.as_secs());
    Error::failed(STAGE, &check.name, message).at(Location::file(&check.file))
}

fn cut(mut text: String) -> String {
    if text.len() > FAILURE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(FAILURE_BYTES_MAX));
        text.push('…');
    }
    text
}
