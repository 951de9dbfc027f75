//! The result of one round: a build of a directory, its checks and its runs.

use api::wire::RunOutcome;
use builder::{Checked, Error};
use runner::TrialResult;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub struct Round {
    pub directory: String,
    pub succeeded: bool,
    pub duration_ms: u64,
    pub steps: Vec<Step>,
    pub checks: Vec<Checked>,
    pub runs: Vec<Run>,
    pub refusal: Option<Refusal>,
}

#[derive(Debug, Serialize)]
pub struct Step {
    pub name: String,
    pub duration_ms: u64,
}

/// An error that ended the round.
#[derive(Debug, Serialize)]
pub struct Refusal {
    pub code: &'static str,
    pub stage: &'static str,
    /// The violated rule, and the file of the project that violates it.
    #[serde(skip)]
    pub check: Option<String>,
    #[serde(skip)]
    pub file: Option<String>,
    pub message: String,
}

/// The run of one input of the command line. Its JSON has the keys of the API's invocation results.
#[derive(Debug, Serialize)]
pub struct Run {
    #[serde(flatten)]
    pub outcome: RunOutcome,
    pub duration_ms: u64,
    pub logs: String,
    #[serde(skip)]
    pub unanswered: Vec<String>,
}

impl Round {
    /// Whether the build, all checks and all runs succeeded.
    pub fn is_success(&self) -> bool {
        let is_passed = |run: &Run| run.outcome.is_success();
        self.refusal.is_none() && self.count_failed_checks() == 0 && self.runs.iter().all(is_passed)
    }

    pub fn count_failed_checks(&self) -> usize {
        self.checks.iter().filter(|check| check.failure.is_some()).count()
    }

    /// The document for `--json`.
    pub fn build_document(&self) -> Value {
        let check = |check: &Checked| {
            let Checked { name, file, duration_ms, failure, logs } = check;
            let passed = failure.is_none();
            json!({"name": name, "file": file, "passed": passed, "duration_ms": duration_ms, "failure": failure, "logs": logs})
        };
        json!({
            "directory": self.directory,
            "succeeded": self.succeeded,
            "duration_ms": self.duration_ms,
            "steps": self.steps,
            "error": self.refusal,
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
            "invocation_results": self.runs,
        })
    }
}

impl Refusal {
    pub fn of(error: &Error) -> Self {
        let (check, file) = match error {
            Error::Failed { check, location, .. } => (Some(check.clone()), location.file.clone()),
            _ => (None, None),
        };
        Self { code: error.code(), stage: error.stage(), check, file, message: error.to_string() }
    }
}

impl From<TrialResult> for Run {
    fn from(tried: TrialResult) -> Self {
        let duration_ms = u64::try_from(tried.duration.as_millis()).unwrap_or(u64::MAX);
        Self { outcome: tried.outcome.into(), duration_ms, logs: tried.logs, unanswered: tried.unanswered }
    }
}
