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
    #[serde(default)]
    pub agent_run_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum OccurrenceStatus {
    Fired,
    Done,
    /// Left out, as the user or the agent wanted.
    Skipped,
}

impl Occurrence {
    pub const fn new(due_at: Moment, fired_at: Moment, status: OccurrenceStatus) -> Self {
        Self { due_at, fired_at, status, completed_at: None, result: None, agent_run_id: None }
    }

    pub fn complete(&mut self, result: Option<String>, now: Moment) {
        self.status = OccurrenceStatus::Done;
        self.completed_at = Some(now);
        self.result = result;
    }
}
