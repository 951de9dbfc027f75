//! Other code over a tape. Its time is the tape's as long as that goes, and moves on by itself where the code waits.

use std::collections::BTreeMap;

use super::readings::Reader;
use super::{Stopped, Tape, TapedRequest};
use crate::{HttpAnswer, HttpError, HttpErrorCode};

/// Nanoseconds of the millisecond that clocks show.
const NANOSECONDS: u64 = 1_000_000;

/// The time of a replay of other code.
pub(crate) struct Free {
    wall: Reader,
    monotonic: Reader,
    /// Milliseconds since the start.
    now: u64,
    /// The time of day that was last shown, and when that was.
    shown: (u64, u64),
    /// What waits for a time, by its handle, in nanoseconds since the start.
    timers: BTreeMap<u32, u64>,
    /// What the tape's run asked and was answered, until somebody asks the same.
    offered: Vec<(TapedRequest, Option<HttpAnswer>)>,
    answered: BTreeMap<u32, HttpAnswer>,
}

impl Free {
    /// `started_at` is for a tape without a look at the time of day.
    pub(crate) fn new(tape: Tape, started_at: u64) -> Self {
        let answer = |answer: Option<&_>| answer.and_then(|answer| tape.bodies.answer(answer));
        let offered = tape.exchanges().into_iter().map(|(request, taken)| (request.clone(), answer(taken))).collect();
        let Tape { wall, monotonic, .. } = tape;
        Self {
            offered,
            answered: BTreeMap::new(),
            wall: Reader::new(wall),
            monotonic: Reader::new(monotonic),
            now: 0,
            shown: (started_at, 0),
            timers: BTreeMap::new(),
        }
    }

    /// Milliseconds since the start, which never go back.
    pub(crate) fn monotonic(&mut self) -> u64 {
        self.now = self.monotonic.look().unwrap_or_default().max(self.now);
        self.now
    }

    /// Milliseconds since 1970. They go on where the code waited and the tape's run did not.
    pub(crate) fn wall(&mut self) -> u64 {
        let (last, at) = self.shown;
        let at_least = last.saturating_add(self.now - at);
        let value = self.wall.look().unwrap_or_default().max(at_least);
        self.shown = (value, self.now);
        value
    }

    /// Remembers what a handle waits for.
    pub(crate) fn timer(&mut self, handle: u32, nanoseconds: u64) {
        self.timers.insert(handle, nanoseconds);
    }

    /// Nanoseconds since the start.
    pub(crate) const fn nanoseconds(&self) -> u64 {
        self.now.saturating_mul(NANOSECONDS)
    }

    pub(crate) fn forget(&mut self, handle: u32) {
        self.timers.remove(&handle);
    }

    /// Whether it has happened: what is no timer always has.
    pub(crate) fn is_ready(&self, handle: u32) -> bool {
        self.deadline(handle) <= self.nanoseconds()
    }

    /// The positions of the handles that are ready, once time has gone on to the first of them.
    pub(crate) fn wait(&mut self, handles: &[u32]) -> Result<Vec<u32>, Stopped> {
        let first = handles.iter().map(|handle| self.deadline(*handle)).min().unwrap_or_default();
        if first == u64::MAX {
            return Err(Stopped); // it would wait for ever
        }
        self.now = self.now.max(first.div_ceil(NANOSECONDS));
        let ready = handles.iter().zip(0..).filter(|(handle, _)| self.is_ready(**handle));
        Ok(ready.map(|(_, position)| position).collect())
    }

    /// Answers a request as the tape's first equal one was, or refuses it.
    pub(crate) fn request(&mut self, exchange: u32, request: &TapedRequest) {
        let found = self.offered.iter().position(|(offered, _)| offered == request);
        let answer = found.and_then(|position| self.offered.remove(position).1);
        let refused = || HttpError::new(HttpErrorCode::Simulated, "the tape has no answer to this request");
        self.answered.insert(exchange, answer.unwrap_or_else(|| Err(refused())));
    }

    pub(crate) fn finish(&mut self, exchange: u32) -> HttpAnswer {
        let unknown = || HttpError::new(HttpErrorCode::InvalidRequest, "there is no such request under way");
        self.answered.remove(&exchange).unwrap_or_else(|| Err(unknown()))
    }

    fn deadline(&self, handle: u32) -> u64 {
        self.timers.get(&handle).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::{Bodies, Counts, End, Readings};

    fn free(wall: &[u64], monotonic: &[u64]) -> Free {
        let readings = |values: &[u64]| {
            let mut readings = Readings::default();
            values.iter().for_each(|value| readings.add(*value));
            readings
        };
        let (wall, monotonic) = (readings(wall), readings(monotonic));
        let (entries, rest, bodies) = (Vec::new(), Counts::default(), Bodies::default());
        let tape = Tape { seed: [0; 32], wall, monotonic, entries, rest, end: End::Clock, bodies };
        Free::new(tape, 1_000)
    }

    #[test]
    fn time_is_the_tapes_and_then_stands() {
        let mut free = free(&[2_000, 2_001], &[5]);
        assert_eq!([free.wall(), free.wall(), free.wall()], [2_000, 2_001, 2_001]);
        assert_eq!([free.monotonic(), free.monotonic()], [5, 5]);
    }

    #[test]
    fn waiting_moves_time_on() {
        let mut free = free(&[], &[5]);
        free.timer(1, 50 * NANOSECONDS);
        free.timer(2, 70 * NANOSECONDS);
        assert_eq!(free.wait(&[2, 1]).unwrap(), [1]);
        assert_eq!((free.monotonic(), free.wall()), (50, 1_050));
        assert_eq!(free.wait(&[2, 9, 1]).unwrap(), [1, 2], "what is no timer is ready");
        assert_eq!(free.wait(&[2]).unwrap(), [0]);
        assert_eq!((free.monotonic(), free.wall()), (70, 1_070));
        free.forget(2);
        free.timer(3, u64::MAX);
        assert!(free.wait(&[3]).is_err());
    }
}
