//! What is durable in the journal and not yet in the database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::sql::halves::Halves;

/// So long halves of records gather, so that they reach the database in large groups. A run's two halves often come
/// together, and who reads waits for no more than one group.
const GATHERING: Duration = Duration::from_millis(50);
/// Between two tries when the database takes none.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct Backlog {
    state: Mutex<State>,
    has_room: AtomicBool,
    some: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<Halves>,
    /// How many there ever were, and how many of those have reached the database.
    added: u64,
    done: u64,
    is_failing: bool,
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

    /// For the writer, which says with [`Backlog::done`] or [`Backlog::failed`] what became of them.
    pub fn take(&self) -> Vec<Halves> {
        std::mem::take(&mut self.state().waiting)
    }

    pub fn done(&self, count: usize) {
        let mut state = self.state();
        state.done += count as u64;
        state.is_failing = false;
    }

    /// They stay before those that came since.
    pub fn failed(&self, halves: Vec<Halves>) {
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
        self.state().done >= count
    }

    pub fn is_empty(&self) -> bool {
        let state = self.state();
        state.done == state.added
    }

    /// Waits until some have gathered.
    pub async fn gathered(&self) {
        self.some.notified().await;
        let is_failing = self.state().is_failing;
        tokio::time::sleep(if is_failing { AGAIN } else { GATHERING }).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that panics happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
