//! A latch, which a test opens at a moment of its choice, so that no test depends on durations.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::PATIENCE;

/// A latch. Clones share it. It is closed at first, and cannot be closed again.
#[derive(Clone, Default)]
pub struct Latch(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    arrivals: usize,
    is_open: bool,
}

impl Latch {
    pub fn open(&self) {
        self.change(|state| state.is_open = true);
    }

    /// Waits until the latch is open.
    pub fn pass(&self) {
        self.change(|state| state.arrivals += 1);
        self.wait(|state| state.is_open);
    }

    /// Waits until this many have arrived, then opens the latch for all of them.
    pub fn pass_together(&self, count: usize) -> bool {
        self.change(|state| {
            state.arrivals += 1;
            state.is_open |= state.arrivals >= count;
        });
        self.wait(|state| state.is_open)
    }

    /// Waits until this many have arrived.
    #[track_caller]
    pub fn is_reached_by(&self, count: usize) {
        assert!(self.wait(|state| state.arrivals >= count), "fewer than {count} came to the latch");
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.0.lock());
        self.0.1.notify_all();
    }

    /// Whether the condition became true within the time limit of the tests.
    fn wait(&self, is_so: impl Fn(&State) -> bool) -> bool {
        let mut state = self.0.0.lock();
        !self.0.1.wait_while_for(&mut state, |state| !is_so(state), PATIENCE).timed_out()
    }
}
