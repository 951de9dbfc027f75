//! The same code again. Everything must come in the order of the tape; what does not stops the replay.

use super::readings::Reader;
use super::{Bodies, Effect, End, Entry, Tape};
use crate::HttpAnswer;

/// Ends a replay where the tape does not say how it went on.
#[derive(Debug, thiserror::Error)]
#[error("the replay stops here")]
pub(crate) struct Stopped;

/// Where a replay of the same code is on its tape.
pub(crate) struct Strict {
    wall: Reader,
    monotonic: Reader,
    entries: std::vec::IntoIter<Entry>,
    /// The run's time was over when the tape ended.
    ends_by_clock: bool,
    bodies: Bodies,
}

impl Strict {
    pub(crate) fn new(tape: Tape) -> Self {
        let Tape { wall, monotonic, entries, end, bodies, .. } = tape;
        Self {
            wall: Reader::new(wall),
            monotonic: Reader::new(monotonic),
            entries: entries.into_iter(),
            ends_by_clock: end == End::Clock,
            bodies,
        }
    }

    pub(crate) fn wall(&mut self) -> Option<u64> {
        self.wall.look()
    }

    pub(crate) fn monotonic(&mut self) -> Option<u64> {
        self.monotonic.look()
    }

    /// What the run did next when it was recorded.
    pub(crate) fn next(&self) -> Option<&Effect> {
        self.entries.as_slice().first().map(|entry| &entry.effect)
    }

    /// The answer that the run took next, if it took this one.
    pub(crate) fn answer(&self, number: u32) -> Option<HttpAnswer> {
        match self.next() {
            Some(Effect::Finished { exchange, answer }) if *exchange == number => self.bodies.answer(answer),
            _ => None,
        }
    }

    /// Whether the run came further now than it had time for then.
    pub(crate) fn is_over(&self) -> bool {
        self.ends_by_clock && self.entries.as_slice().is_empty()
    }

    /// Goes on behind the tape's next entry, which must be this one.
    pub(crate) fn pass(&mut self, now: Option<&Entry>) -> Result<(), Stopped> {
        let then = self.entries.next();
        if then.is_some() && then.as_ref() == now { Ok(()) } else { Err(Stopped) }
    }
}
