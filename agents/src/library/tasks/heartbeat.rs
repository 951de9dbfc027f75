//! Firing tasks that are due, and the ends of their runs.

use std::time::Duration;

use registry::{AgentId, AgentRunId, Timestamp};
use serde_json::Value;

use super::moment::Moment;
use super::occurrence::RunEnd;
use super::task::Task;
use crate::domain::library::{LibraryContent, LibraryItem};

/// Time after which a task that could not be read is looked at again.
const UNREADABLE: Duration = Duration::from_hours(1);

/// The agent that created a task.
pub(crate) fn find_creator(item: &LibraryItem) -> Option<AgentId> {
    AgentId::parse(&Task::of(item).ok()?.agent_id?).ok()
}

/// Fires a task whose time has come, with the run that works on it from now on. Returns its content and its description, if it fired.
/// An item that cannot be read as a task, such as one of a later release, stays as it is and is due again an hour later.
pub(crate) fn fire(item: &LibraryItem, now: Timestamp, run: Option<&AgentRunId>) -> (LibraryContent, Option<String>) {
    let fired = Task::of(item).and_then(|mut task| {
        let fires = task.fire(Moment(now), run.map(ToString::to_string));
        Ok((task.content()?, fires.then_some(task.description)))
    });
    fired.unwrap_or_else(|error| {
        tracing::error!(%error, item = %item.id, "a task that cannot be read does not fire");
        let (label, due_at) = (item.body.get("status").and_then(Value::as_str), Some(now.after(UNREADABLE)));
        (
            LibraryContent {
                label: label.map(str::to_owned),
                due_at,
                body: item.body.clone(),
                ..LibraryContent::default()
            },
            None,
        )
    })
}

/// Notes in a task that the run of one of its occurrences has ended without completing. `None` when that changes nothing.
pub(crate) fn end_run(item: &LibraryItem, run: &AgentRunId, end: RunEnd, at: Timestamp) -> Option<LibraryContent> {
    let noted = Task::of(item).and_then(|mut task| {
        let is_changed = task.end_run(run.as_str(), end, Moment(at));
        task.content().map(|content| is_changed.then_some(content))
    });
    noted.unwrap_or_else(|error| {
        tracing::error!(%error, item = %item.id, "a damaged task does not have the end of its run");
        None
    })
}
