//! A task, and what can happen to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::answer::{Failure, conflict};
use super::super::record::Record;
use super::local_times::find_zone;
use super::moment::Moment;
use super::occurrence::{Occurrence, OccurrenceStatus, RunEnd};
use super::schedule::{Recurrence, Schedule, Start};
use crate::domain::library::{LibraryContent, LibraryFamily, LibraryItem};

/// Occurrences that a task remembers: the latest ones.
const HISTORY_MAX: usize = 50;

/// A task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Task {
    /// The work.
    pub description: String,
    pub priority: Priority,
    pub status: TaskStatus,
    /// The next time at which the task is due. Null if there is none.
    pub due_at: Option<Moment>,
    /// Null for a task that does not recur.
    pub recurrence: Option<Recurrence>,
    pub cron: Option<String>,
    /// The zone in which the times of the recurrence are local times.
    pub timezone: String,
    /// The time from which days, weeks and months are counted.
    pub starts_at: Option<Moment>,
    /// The local time that days, weeks and months have. Only of a task whose first time a change of the clock leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_start: Option<String>,
    /// Whether the next occurrence is left out.
    pub skip_next: bool,
    /// Occurrences that have fired, without those that were skipped.
    pub fire_count: u64,
    /// The latest occurrences, the newest last.
    pub fire_history: Vec<Occurrence>,
    /// The agent that created the task. Null for a task of the user.
    pub agent_id: Option<String>,
    pub completed_at: Option<Moment>,
    pub recurrence_ended_at: Option<Moment>,
    pub cancelled_at: Option<Moment>,
    /// The latest run that the server started for the task. Null if there was none.
    pub last_run_id: Option<String>,
    /// The status of the occurrence of this run: `failed` if the run failed.
    pub last_run_status: Option<OccurrenceStatus>,
    /// Why this run failed.
    pub last_run_error_code: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Priority {
    Low,
    #[default]
    Medium,
    High,
    Urgent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskStatus {
    /// Not due yet, or recurring.
    Open,
    /// Due: its time has come, and the work is not completed.
    Fired,
    Done,
    /// The run of its only or last occurrence failed.
    Failed,
    Cancelled,
}

impl TaskStatus {
    /// Whether the task stays as it is.
    const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Why the task does not change.
    const fn reason(self) -> &'static str {
        match self {
            Self::Done => "the task is done already",
            Self::Failed => "the task has failed",
            Self::Cancelled => "the task is cancelled",
            Self::Open | Self::Fired => "the task goes on",
        }
    }
}

impl Record for Task {
    const FAMILY: LibraryFamily = LibraryFamily::Tasks;
    const ID: &'static str = "task_id";
    const LABEL: Option<&'static str> = Some("status");
    const HAS_TAGS: bool = false;
    const CONTENT: Option<&'static str> = Some("fire_history");
}

impl Task {
    pub fn of(item: &LibraryItem) -> Result<Self, serde_json::Error> {
        serde_json::from_value(Value::Object(item.body.clone()))
    }

    pub fn content(&self) -> Result<LibraryContent, serde_json::Error> {
        let label = serde_json::to_value(self.status)?.as_str().map(ToOwned::to_owned);
        let body = serde_json::from_value(serde_json::to_value(self)?)?;
        Ok(LibraryContent { label, due_at: self.due_at.map(|due_at| due_at.0), body, ..LibraryContent::default() })
    }

    /// The times of a recurring task. `None` for another one, and for one that a later release wrote.
    pub fn schedule(&self) -> Option<Schedule> {
        let zone = find_zone(&self.timezone)?;
        match self.recurrence? {
            Recurrence::Cron => Some(Schedule::Cron { expression: self.cron.clone()?, zone }),
            recurrence => {
                let instant = self.starts_at?.instant()?;
                let left_out = self.local_start.as_deref().and_then(|local| local.parse().ok());
                let start = Start { instant, local: left_out.unwrap_or_else(|| zone.to_datetime(instant)) };
                Some(Schedule::Every { recurrence, start, zone })
            }
        }
    }

    /// The time of the task has come. Of several occurrences whose time has passed, only the earliest one fires. Returns whether it is
    /// not skipped.
    pub fn fire(&mut self, now: Moment, agent_run_id: Option<String>) -> bool {
        let Some(due_at) = self.due_at.take() else { return false };
        let is_skipped = std::mem::take(&mut self.skip_next);
        let status = if is_skipped { OccurrenceStatus::Skipped } else { OccurrenceStatus::Fired };
        self.fire_count += u64::from(!is_skipped);
        let agent_run_id = agent_run_id.filter(|_| !is_skipped);
        self.add(Occurrence { agent_run_id, ..Occurrence::new(due_at, now, status) });
        // Also when the clock was set back, no occurrence comes twice.
        self.due_at = self.schedule().and_then(|schedule| schedule.after(Moment(now.0.max(due_at.0))));
        if self.due_at.is_none() {
            self.status = TaskStatus::Fired;
        }
        !is_skipped
    }

    /// The work is done: that of the task, or of the latest occurrence of a recurring one.
    pub fn complete(&mut self, result: Option<String>, now: Moment) -> Result<(), Failure> {
        match find_latest_fired(&mut self.fire_history) {
            Some(latest) => latest.complete(result, now),
            None if self.status.is_final() => return Err(conflict(self.status.reason())),
            None if self.recurrence.is_some() => {
                return Err(conflict("no occurrence of the task has come that is not completed"));
            }
            None => {
                let mut only = Occurrence::new(self.due_at.unwrap_or(now), now, OccurrenceStatus::Fired);
                only.complete(result, now);
                self.add(only);
            }
        }
        self.note_last_run();
        self.completed_at = Some(now);
        if self.recurrence.is_none() || self.due_at.is_none() {
            self.status = TaskStatus::Done;
            self.due_at = None;
        }
        Ok(())
    }

    /// The work is not wanted any more, and there are no more occurrences.
    pub fn cancel(&mut self, reason: Option<String>, now: Moment) -> Result<(), Failure> {
        if self.status.is_final() {
            return Err(conflict(self.status.reason()));
        }
        if let Some(latest) = find_latest_fired(&mut self.fire_history) {
            latest.cancel(reason, now);
        } else {
            let mut next = Occurrence::new(self.due_at.unwrap_or(now), now, OccurrenceStatus::Fired);
            next.cancel(reason, now);
            self.add(next);
        }
        self.note_last_run();
        (self.status, self.cancelled_at) = (TaskStatus::Cancelled, Some(now));
        (self.due_at, self.skip_next) = (None, false);
        Ok(())
    }

    /// The run of an occurrence has ended without completing. Returns whether that changes the task: not if the occurrence is completed
    /// or cancelled.
    pub fn end_run(&mut self, run: &str, end: RunEnd, at: Moment) -> bool {
        let is_of_run = |one: &Occurrence| one.agent_run_id.as_deref() == Some(run);
        let Some(position) = self.fire_history.iter().rposition(is_of_run) else { return false };
        let (before, later) = self.fire_history.split_at_mut(position + 1);
        let Some(ended) = before.last_mut().filter(|one| one.status == OccurrenceStatus::Fired) else { return false };
        let status = match end {
            RunEnd::Failed { .. } => TaskStatus::Failed,
            RunEnd::Cancelled => TaskStatus::Cancelled,
        };
        ended.end_run(end, at);
        let is_last = later.iter().all(|one| one.status == OccurrenceStatus::Skipped);
        if self.status == TaskStatus::Fired && is_last {
            self.status = status;
            self.cancelled_at = Some(at).filter(|_| status == TaskStatus::Cancelled);
        }
        self.note_last_run();
        true
    }

    /// The next occurrence is left out.
    pub fn skip_next(&mut self) -> Result<(), Failure> {
        self.require_recurring()?;
        if self.due_at.is_none() {
            return Err(conflict("the task has no more occurrences"));
        }
        self.skip_next = true;
        Ok(())
    }

    /// There are no more occurrences. The latest one can still be completed.
    pub fn end_recurrence(&mut self, now: Moment) -> Result<(), Failure> {
        self.require_recurring()?;
        if matches!(self.status, TaskStatus::Failed | TaskStatus::Cancelled) {
            return Err(conflict(self.status.reason()));
        }
        self.recurrence_ended_at.get_or_insert(now);
        self.status = TaskStatus::Done;
        self.due_at = None;
        self.skip_next = false;
        Ok(())
    }

    /// Remembers an occurrence. The oldest one beyond the bound is forgotten.
    fn add(&mut self, occurrence: Occurrence) {
        self.fire_history.push(occurrence);
        let beyond = self.fire_history.len().saturating_sub(HISTORY_MAX);
        self.fire_history.drain(..beyond);
        self.note_last_run();
    }

    /// Lists leave the history out, and show the latest run.
    fn note_last_run(&mut self) {
        let Some(latest) = self.fire_history.iter().rfind(|one| one.agent_run_id.is_some()) else { return };
        self.last_run_id.clone_from(&latest.agent_run_id);
        self.last_run_status = Some(latest.status);
        self.last_run_error_code.clone_from(&latest.error_code);
    }

    fn require_recurring(&self) -> Result<(), Failure> {
        if self.recurrence.is_some() { Ok(()) } else { Err(conflict("the task does not recur")) }
    }
}

/// The latest occurrence, if it is not completed.
fn find_latest_fired(history: &mut [Occurrence]) -> Option<&mut Occurrence> {
    history.last_mut().filter(|latest| latest.status == OccurrenceStatus::Fired)
}
