//! Record events that are durable in the journal and not yet in the database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::sql::record_event::RecordEvent;

/// Time in which events gather before they are inserted. Larger groups cost less, and the start and the end of a short
/// run often end up in the same group.
const GATHERING: Duration = Duration::from_millis(50);
/// Pause after a failed insert.
const RETRY_AFTER: Duration = Duration::from_millis(300);
/// Events of one commit. A commit of this size takes some ten milliseconds, for which other writes wait.
pub(super) const COMMIT_EVENTS_MAX: usize = 1_000;
/// Longest wait of a read while the database is not accepting writes.
const READ_WAIT_MAX: Duration = Duration::from_secs(1);

pub(super) struct PendingRecords {
    state: Mutex<State>,
    /// Signals that an event was added to an empty list.
    added: Notify,
    /// Signals that a read waits for the events.
    requested: Notify,
    /// Number of events that have reached the database since the start.
    inserted: watch::Sender<u64>,
    has_space: AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: Vec<RecordEvent>,
    /// Number of events added since the start.
    added: u64,
    is_failing: bool,
}

impl Default for PendingRecords {
    fn default() -> Self {
        let (added, requested, inserted) = (Notify::new(), Notify::new(), watch::Sender::new(0));
        Self { state: Mutex::default(), added, requested, inserted, has_space: AtomicBool::new(false) }
    }
}

impl PendingRecords {
    /// Adds events that have just become durable. The journal calls this before it replies to the callers.
    pub fn add(&self, events: impl ExactSizeIterator<Item = RecordEvent>) {
        let mut state = self.state.lock();
        let was_empty = state.waiting.is_empty();
        state.added += events.len() as u64;
        state.waiting.extend(events);
        drop(state);
        if was_empty {
            self.added.notify_one();
        }
    }

    /// Takes at most [`COMMIT_EVENTS_MAX`] events for the writer, which reports the result with
    /// [`PendingRecords::mark_inserted`] or [`PendingRecords::put_back`].
    pub fn take(&self) -> Vec<RecordEvent> {
        let mut state = self.state.lock();
        let count = state.waiting.len().min(COMMIT_EVENTS_MAX);
        let rest = state.waiting.split_off(count);
        std::mem::replace(&mut state.waiting, rest)
    }

    pub fn mark_inserted(&self, count: usize) {
        self.state.lock().is_failing = false;
        self.inserted.send_modify(|inserted| *inserted += count as u64);
    }

    /// Puts events whose insert failed before the events that were added since.
    pub fn put_back(&self, events: Vec<RecordEvent>) {
        if events.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.waiting.splice(0..0, events);
        state.is_failing = true;
        drop(state);
        self.added.notify_one();
    }

    /// Whether the database has space for more events. Without space the journal must not grow.
    pub fn has_space(&self) -> bool {
        self.has_space.load(Ordering::Relaxed)
    }

    pub fn set_has_space(&self, has_space: bool) {
        self.has_space.store(has_space, Ordering::Relaxed);
    }

    /// Number of events added since the start.
    pub fn added(&self) -> u64 {
        self.state.lock().added
    }

    /// Whether the first `count` events have reached the database.
    pub fn are_inserted(&self, count: u64) -> bool {
        *self.inserted.borrow() >= count
    }

    pub fn is_empty(&self) -> bool {
        self.are_inserted(self.added())
    }

    /// Waits until all present events have reached the database. Returns whether they have: the database may not be
    /// accepting writes.
    pub async fn wait_until_inserted(&self) -> bool {
        let count = self.added();
        if self.are_inserted(count) {
            return true;
        }
        self.requested.notify_one();
        let mut inserted = self.inserted.subscribe();
        matches!(timeout(READ_WAIT_MAX, inserted.wait_for(|inserted| *inserted >= count)).await, Ok(Ok(_)))
    }

    /// Waits until the events should be inserted: some have gathered, or a read waits for them.
    pub async fn wait_until_due(&self) {
        self.added.notified().await;
        if self.state.lock().is_failing {
            return sleep(RETRY_AFTER).await;
        }
        tokio::select! {
            () = sleep(GATHERING) => {}
            () = self.requested.notified() => {}
        }
    }
}
