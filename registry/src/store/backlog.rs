//! What is durable in the journal and not yet in the database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::sql::halves::Halves;

/// So long halves of records gather, so that they reach the database in large groups: a run's two halves often come
/// together.
const GATHERING: Duration = Duration::from_millis(50);
/// Between two tries when the database takes none.
const AGAIN: Duration = Duration::from_millis(300);
/// Calls to keep halves that are entered at once, so that nobody waits long for a commit: some ten milliseconds.
pub(super) const TOGETHER_MAX: usize = 1_000;
/// Who reads waits no longer for a database that takes nothing.
const SETTLING_MAX: Duration = Duration::from_secs(1);

pub(super) struct Backlog {
    state: Mutex<State>,
    some: Notify,
    /// Somebody waits for it.
    wanted: Notify,
    /// How many have reached the database.
    done: watch::Sender<u64>,
    has_room: AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: Vec<Halves>,
    /// How many there ever were.
    added: u64,
    is_failing: bool,
}

impl Default for Backlog {
    fn default() -> Self {
        let (some, wanted, done) = (Notify::new(), Notify::new(), watch::Sender::new(0));
        Self { state: Mutex::default(), some, wanted, done, has_room: AtomicBool::new(false) }
    }
}

impl Backlog {
    /// Adds what has just become durable, before anybody is told.
    pub fn add(&self, halves: impl ExactSizeIterator<Item = Halves>) {
        let mut state = self.state();
        let was_empty = state.waiting.is_empty();
        state.added += halves.len() as u64;
        state.waiting.extend(halves);
        drop(state);
        if was_empty {
            self.some.notify_one();
        }
    }

    /// Some for the writer, which says with [`Backlog::done`] or [`Backlog::failed`] what became of them. Nothing is left
    /// when these are fewer than [`TOGETHER_MAX`].
    pub fn take(&self) -> Vec<Halves> {
        let mut state = self.state();
        let count = state.waiting.len().min(TOGETHER_MAX);
        let rest = state.waiting.split_off(count);
        std::mem::replace(&mut state.waiting, rest)
    }

    pub fn done(&self, count: usize) {
        self.state().is_failing = false;
        self.done.send_modify(|done| *done += count as u64);
    }

    /// They stay before those that came since.
    pub fn failed(&self, halves: Vec<Halves>) {
        if halves.is_empty() {
            return;
        }
        let mut state = self.state();
        state.waiting.splice(0..0, halves);
        state.is_failing = true;
        drop(state);
        self.some.notify_one();
    }

    /// Whether more of it finds room in the database: else it is not to grow.
    pub fn has_room(&self) -> bool {
        self.has_room.load(Ordering::Relaxed)
    }

    pub fn set_room(&self, has_room: bool) {
        self.has_room.store(has_room, Ordering::Relaxed);
    }

    /// How many there ever were.
    pub fn added(&self) -> u64 {
        self.state().added
    }

    /// Whether the first so many have reached the database.
    pub fn is_done(&self, count: u64) -> bool {
        *self.done.borrow() >= count
    }

    pub fn is_empty(&self) -> bool {
        self.is_done(self.added())
    }

    /// Waits until all that is there now has reached the database, and says whether it has. The database may take none.
    pub async fn settled(&self) -> bool {
        let count = self.added();
        if self.is_done(count) {
            return true;
        }
        self.wanted.notify_one();
        let mut done = self.done.subscribe();
        matches!(timeout(SETTLING_MAX, done.wait_for(|done| *done >= count)).await, Ok(Ok(_)))
    }

    /// Waits until some have gathered, or are wanted.
    pub async fn gathered(&self) {
        self.some.notified().await;
        if self.state().is_failing {
            return sleep(AGAIN).await;
        }
        tokio::select! {
            () = sleep(GATHERING) => {}
            () = self.wanted.notified() => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that panics happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
