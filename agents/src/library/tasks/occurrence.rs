//! The occurrences of a task that have come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::moment::Moment;

/// An occurrence whose time has come.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Occurrence {
    pub due_at: Moment,
    /// When the server noticed that it was due.
    pub fired_at: Moment,
    pub status: OccurrenceStatus,
    pub completed_at: Option<Moment>,
    /// The report of the agent.
    pub result: Option<String>,
    /// The run that works on it. Null if the server started none.
    pub agent_run_id: Option<String>,
    /// When it failed or was cancelled.
    pub ended_at: Option<Moment>,
    /// Why its run failed.
    pub error_code: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum OccurrenceStatus {
    Fired,
    Done,
    /// Left out, as the user or the agent wanted.
    Skipped,
    /// Its run failed.
    Failed,
    /// Its task or its run was cancelled.
    Cancelled,
}

/// The end of a run that did not complete.
#[derive(Debug)]
pub(crate) enum RunEnd {
    Failed { error_code: String },
    Cancelled,
}

impl Occurrence {
    pub const fn new(due_at: Moment, fired_at: Moment, status: OccurrenceStatus) -> Self {
        Self {
            due_at,
            fired_at,
            status,
            completed_at: None,
            result: None,
            agent_run_id: None,
            ended_at: None,
            error_code: None,
        }
    }

    pub fn complete(&mut self, result: Option<String>, now: Moment) {
        self.status = OccurrenceStatus::Done;
        self.completed_at = Some(now);
        self.result = result;
    }

    pub fn cancel(&mut self, reason: Option<String>, now: Moment) {
        self.status = OccurrenceStatus::Cancelled;
        self.ended_at = Some(now);
        self.result = reason;
    }

    /// Its run has ended.
    pub fn end_run(&mut self, end: RunEnd, at: Moment) {
        match end {
            RunEnd::Failed { error_code } => {
                (self.status, self.error_code) = (OccurrenceStatus::Failed, Some(error_code));
            }
            RunEnd::Cancelled => self.status = OccurrenceStatus::Cancelled,
        }
        self.ended_at = Some(at);
    }
}
