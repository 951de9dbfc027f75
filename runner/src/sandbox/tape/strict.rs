//! Replays the same code. Effects must come in the order of the tape; the first that differs stops the replay.

use super::contents::{End, Tape, TapeEntry};
use super::effect::Effect;
use super::exchange::Bodies;
use super::readings::Reader;
use crate::interaction::{InputErrorCode, InputRefused, Reply};
use crate::sandbox::ports::HttpAnswer;

/// Ends a replay where the tape has no answer.
#[derive(Debug, thiserror::Error)]
#[error("the replay stopped, since its tape has no answer here")]
pub(crate) struct ReplayStopped;

/// The position of a replay of the same code on its tape.
pub(crate) struct StrictReplay {
    wall: Reader,
    monotonic: Reader,
    entries: std::vec::IntoIter<TapeEntry>,
    /// Whether the recorded run exceeded a time limit.
    timed_out: bool,
    bodies: Bodies,
}

impl StrictReplay {
    pub(crate) fn new(tape: Tape) -> Self {
        let Tape { wall, monotonic, entries, end, bodies, .. } = tape;
        Self {
            wall: Reader::new(wall),
            monotonic: Reader::new(monotonic),
            entries: entries.into_iter(),
            timed_out: end == End::Clock,
            bodies,
        }
    }

    pub(crate) fn read_wall(&mut self) -> Option<u64> {
        self.wall.next()
    }

    pub(crate) fn read_monotonic(&mut self) -> Option<u64> {
        self.monotonic.next()
    }

    /// The next effect of the recorded run.
    pub(crate) fn next(&self) -> Option<&Effect> {
        self.entries.as_slice().first().map(|entry| &entry.effect)
    }

    /// The answer to a request, if the recorded run took that answer next.
    pub(crate) fn answer(&self, number: u32) -> Option<HttpAnswer> {
        match self.next() {
            Some(Effect::ResponseTaken { exchange, answer }) if *exchange == number => self.bodies.answer(answer),
            _ => None,
        }
    }

    /// The reply to questions, if the recorded run asked some next.
    pub(crate) fn reply(&self) -> Reply {
        match self.next() {
            Some(Effect::InputRequested { reply, .. }) => (**reply).clone(),
            _ => Reply::Refused(InputRefused::new(InputErrorCode::Unavailable, "the tape has no answer here")),
        }
    }

    /// Whether the replay has passed the point where the recorded run exceeded its time limit.
    pub(crate) fn is_over(&self) -> bool {
        self.timed_out && self.entries.as_slice().is_empty()
    }

    /// Advances past the next entry of the tape, which must equal `now`.
    pub(crate) fn pass(&mut self, now: Option<&TapeEntry>) -> Result<(), ReplayStopped> {
        let then = self.entries.next();
        if then.is_some() && then.as_ref() == now { Ok(()) } else { Err(ReplayStopped) }
    }
}
