//! The result of one round: a build of a directory, its checks and its runs.

use builder::{Checked, Error};
use runner::{Outcome, TrialResult};
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::{InvocationResult, ResultStatus};

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
    pub message: String,
}

/// The run of one input of the command line.
#[derive(Debug)]
pub struct Run {
    pub result: InvocationResult,
    pub logs: String,
    pub unanswered: Vec<String>,
}

impl Round {
    /// Whether the build, all checks and all runs succeeded.
    pub fn is_success(&self) -> bool {
        let is_run = |run: &Run| matches!(run.result.status, ResultStatus::Succeeded { .. });
        self.refusal.is_none() && self.failed_checks() == 0 && self.runs.iter().all(is_run)
    }

    pub fn failed_checks(&self) -> usize {
        self.checks.iter().filter(|check| check.failure.is_some()).count()
    }

    /// The document for `--json`. Results have the keys of the API's invocation results.
    pub fn document(&self) -> Value {
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
            "invocation_results": self.runs.iter().map(Run::document).collect::<Vec<_>>(),
        })
    }
}

impl Refusal {
    pub fn of(error: &Error) -> Self {
        Self { code: error.code(), stage: error.stage(), message: error.to_string() }
    }
}

impl Run {
    pub fn of(tried: TrialResult) -> Self {
        let duration_ms = u64::try_from(tried.duration.as_millis()).unwrap_or(u64::MAX);
        let status = match tried.outcome {
            Outcome::Succeeded { output } => ResultStatus::Succeeded { output },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                ResultStatus::Failed { exception_type, exception_message, exception_stack_trace }
            }
        };
        let result = InvocationResult { status, duration_ms };
        Self { result, logs: tried.logs, unanswered: tried.unanswered }
    }

    fn document(&self) -> Value {
        let (logs, duration_ms) = (&self.logs, self.result.duration_ms);
        match &self.result.status {
            ResultStatus::Succeeded { output } => {
                json!({"succeeded": true, "output": output, "duration_ms": duration_ms, "logs": logs})
            }
            ResultStatus::Failed { exception_type, exception_message, exception_stack_trace } => json!({
                "succeeded": false, "exception_type": exception_type, "exception_message": exception_message,
                "exception_stack_trace": exception_stack_trace, "duration_ms": duration_ms, "logs": logs,
            }),
        }
    }
}
