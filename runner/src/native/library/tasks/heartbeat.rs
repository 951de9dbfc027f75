//! Firing tasks that are due.

use registry::{AgentId, AgentRunId, LibraryContent, LibraryItem, Timestamp};

use super::moment::Moment;
use super::task::Task;

/// The agent that created a task.
pub(crate) fn creator(item: &LibraryItem) -> Option<AgentId> {
    AgentId::parse(&Task::of(item).ok()?.agent_id?).ok()
}

/// Fires a task whose time has come, with the run that works on it from now on. Returns its content and its description, if it fired.
/// What cannot be read as a task stays as it is, and is due no more.
pub(crate) fn fire(item: &LibraryItem, now: Timestamp, run: Option<&AgentRunId>) -> (LibraryContent, Option<String>) {
    let fired = Task::of(item).and_then(|mut task| {
        let fires = task.fire(Moment(now), run.map(ToString::to_string));
        Ok((task.content()?, fires.then_some(task.description)))
    });
    fired.unwrap_or_else(|error| {
        tracing::error!(%error, item = %item.id, "a damaged task is due no more");
        (LibraryContent { body: item.body.clone(), ..LibraryContent::default() }, None)
    })
}
