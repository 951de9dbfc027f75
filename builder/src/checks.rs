//! An author's checks: runs of what was built, and whether there comes of them what the author expects.
//!
//! They know no store and no network: a check brings its variables, and mocks answer its requests.

mod difference;
mod file;
mod verdict;

use std::time::Duration;

use registry::{EnvvarName, OrganizationId, Variables, VersionSettings};
use runner::{Code, Input, InputSchema, Mock, Mocks, Trial, Trials};
use tokio::time::{Instant, timeout_at};

use crate::error::{Error, Place};
use crate::progress::Progress;
pub use file::{Check, CheckFiles};
use verdict::failure;

pub const STAGE: &str = "checks";

/// Of all checks of a project. Whoever publishes waits for them, and a tool may run for minutes.
const CHECKS_WALL_MAX: Duration = Duration::from_secs(120);
/// A failure is shown, stored and sent as a part of a message.
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

/// What came of a check.
#[derive(Debug, Clone)]
pub struct Checked {
    pub name: String,
    pub file: String,
    pub duration_ms: u64,
    /// Why it failed, in lines; none for one that passed.
    pub failure: Option<String>,
    /// What the tool printed.
    pub logs: String,
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// What comes after the first failing check is not run.
    FirstFailure,
    End,
}

impl Checked {
    /// The refusal of a build that has this check.
    fn refusal(&self) -> Option<Error> {
        let failure = self.failure.as_deref()?;
        Some(Error::failed(STAGE, &self.name, failure, Place::file(&self.file)))
    }
}

/// Runs checks one after the other, and tells of each when it has ended.
///
/// # Errors
/// When they take too long together, too much waits, or a run fails on the host's side. A failing check is in the answer.
pub async fn run(
    subject: &Subject<'_>,
    checks: &[Check],
    trials: &Trials,
    until: Until,
    mut each: impl FnMut(&Checked),
) -> Result<Vec<Checked>, Error> {
    let deadline = Instant::now() + CHECKS_WALL_MAX;
    let mut ended = Vec::with_capacity(checks.len());
    for check in checks {
        let checked = timeout_at(deadline, run_one(subject, check, trials)).await.map_err(|_| too_slow(check))??;
        each(&checked);
        let is_last = until == Until::FirstFailure && checked.failure.is_some();
        ended.push(checked);
        if is_last {
            break;
        }
    }
    Ok(ended)
}

/// Reads checks and runs them up to the first that fails, which refuses the build.
///
/// # Errors
/// When they cannot be read, as [`run`], and the failing check.
pub async fn require(
    subject: &Subject<'_>,
    files: &CheckFiles,
    trials: &Trials,
    progress: &Progress,
) -> Result<(), Error> {
    let checks = files.read()?;
    if checks.is_empty() {
        progress.line("no checks; add checks/*.json");
    }
    let each = |checked: &Checked| {
        let end = if checked.failure.is_none() { "ok" } else { "FAILED" };
        progress.line(format!("check {}: {end} in {} ms", checked.name, checked.duration_ms));
    };
    let checked = run(subject, &checks, trials, Until::FirstFailure, each).await?;
    checked.iter().find_map(Checked::refusal).map_or(Ok(()), Err)
}

async fn run_one(subject: &Subject<'_>, check: &Check, trials: &Trials) -> Result<Checked, Error> {
    let checked = |duration: Duration, failure: Option<String>, logs: String| Checked {
        name: check.name.clone(),
        file: check.file.clone(),
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        failure: failure.map(cut),
        logs,
    };
    let variables = match variables(subject, check) {
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
            input: input(check),
            variables,
            mocks: &Mocks(mocks),
            clock: check.clock,
            conversation: check.conversation.clone(),
            events: Box::new(drop),
        })
        .await?;
    let failure = failure(&check.expected, &tried).await?;
    Ok(checked(tried.duration, failure.map(|text| tried.redacted(text)), tried.redacted(tried.logs.clone())))
}

fn input(check: &Check) -> Input {
    let sensitive = check.sensitive_user_variables.iter();
    Input {
        input_parameters: check.input_parameters.clone(),
        invocation_mode: check.invocation_mode,
        nonsensitive_user_variables: check.nonsensitive_user_variables.clone(),
        sensitive_user_variables: sensitive.map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
    }
}

/// The declared variables. A check gives all of them and no others: what it tests should not depend on where it runs.
fn variables(subject: &Subject<'_>, check: &Check) -> Result<Variables, String> {
    exactly(subject.required_envvars, check.envvars.keys(), "envvars", "required_envvars")?;
    exactly(subject.required_secret_envvars, check.secrets.keys(), "secrets", "required_secret_envvars")?;
    Ok(Variables { envvars: check.envvars.clone(), secrets: check.secrets.clone() })
}

fn exactly<'a>(
    required: &[EnvvarName],
    mut given: impl Iterator<Item = &'a EnvvarName> + Clone,
    key: &str,
    declaration: &str,
) -> Result<(), String> {
    if let Some(name) = required.iter().find(|name| !given.clone().any(|given| given == *name)) {
        return Err(format!("the tool requires the variable {name}; give it a value in the check's `{key}`"));
    }
    match given.find(|name| !required.contains(name)) {
        Some(name) => {
            Err(format!("the check gives {name} in `{key}`, which the project lists nowhere in `{declaration}`"))
        }
        None => Ok(()),
    }
}

fn too_slow(check: &Check) -> Error {
    let message = format!("all checks together took longer than {} s, up to this one", CHECKS_WALL_MAX.as_secs());
    Error::failed(STAGE, &check.name, message, Place::file(&check.file))
}

fn cut(mut text: String) -> String {
    if text.len() > FAILURE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(FAILURE_BYTES_MAX));
        text.push('…');
    }
    text
}
