//! Firing tasks that are due.

use registry::{LibraryContent, LibraryItem, Timestamp};

use super::moment::Moment;
use super::task::Task;

/// Fires a task whose time has come. What cannot be read as a task stays as it is, and is due no more.
pub(crate) fn advance(item: &LibraryItem, now: Timestamp) -> LibraryContent {
    let fired = Task::of(item).and_then(|mut task| {
        task.fire(Moment(now));
        task.content()
    });
    fired.unwrap_or_else(|error| {
        tracing::error!(%error, item = %item.id, "a damaged task is due no more");
        LibraryContent { body: item.body.clone(), ..LibraryContent::default() }
    })
}
