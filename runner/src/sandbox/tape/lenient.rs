//! Replays other code from a tape. Its clocks show the tape's readings while there are any, and advance where the code
//! waits.

use std::collections::BTreeMap;

use super::body::Body;
use super::contents::Tape;
use super::effect::Effect;
use super::exchange::TapedRequest;
use super::readings::Reader;
use super::strict::ReplayStopped;
use crate::interaction::{InputErrorCode, InputRefused, Reply};
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode};

/// Nanoseconds in a millisecond, the resolution of clocks.
const NANOSECONDS: u64 = 1_000_000;

/// The state of a replay of other code.
pub(crate) struct LenientReplay {
    wall: Reader,
    monotonic: Reader,
    /// Milliseconds since the start.
    now: u64,
    /// The wall clock value that was last shown, and the monotonic time of that reading.
    shown: (u64, u64),
    /// Deadlines of timers by handle, in nanoseconds since the start.
    timers: BTreeMap<u32, u64>,
    /// Requests of the recorded run with their answers. An entry is removed when the replay makes an equal request.
    offered: Vec<(TapedRequest, Option<HttpAnswer>)>,
    answered: BTreeMap<u32, HttpAnswer>,
    /// Questions of the recorded run with their replies.
    replies: Vec<(Body, Reply)>,
}

impl LenientReplay {
    /// Starts a replay. If the tape has no reading of the wall clock, the clock shows `started_at`.
    pub(crate) fn new(tape: Tape, started_at: u64) -> Self {
        let answer = |answer: Option<&_>| answer.and_then(|answer| tape.bodies.answer(answer));
        let offered =
            tape.collect_exchanges().into_iter().map(|(request, taken)| (request.clone(), answer(taken))).collect();
        let Tape { wall, monotonic, entries, .. } = tape;
        let replies = entries.into_iter().filter_map(|entry| match entry.effect {
            Effect::InputRequested { questions, reply } => Some((questions, *reply)),
            _ => None,
        });
        Self {
            replies: replies.collect(),
            offered,
            answered: BTreeMap::new(),
            wall: Reader::new(wall),
            monotonic: Reader::new(monotonic),
            now: 0,
            shown: (started_at, 0),
            timers: BTreeMap::new(),
        }
    }

    /// Milliseconds since the start. They never decrease.
    pub(crate) fn read_monotonic(&mut self) -> u64 {
        self.now = self.monotonic.next().unwrap_or_default().max(self.now);
        self.now
    }

    /// Milliseconds since 1970. They advance where the code waited and the recorded run did not.
    pub(crate) fn read_wall(&mut self) -> u64 {
        let (last, at) = self.shown;
        let at_least = last.saturating_add(self.now - at);
        let value = self.wall.next().unwrap_or_default().max(at_least);
        self.shown = (value, self.now);
        value
    }

    /// Registers the deadline of a timer.
    pub(crate) fn set_timer(&mut self, handle: u32, nanoseconds: u64) {
        self.timers.insert(handle, nanoseconds);
    }

    /// Nanoseconds since the start.
    pub(crate) const fn nanoseconds(&self) -> u64 {
        self.now.saturating_mul(NANOSECONDS)
    }

    pub(crate) fn forget(&mut self, handle: u32) {
        self.timers.remove(&handle);
    }

    /// Whether a handle is ready. A handle that is no timer is always ready.
    pub(crate) fn is_ready(&self, handle: u32) -> bool {
        self.find_deadline(handle) <= self.nanoseconds()
    }

    /// Advances time to the first deadline, and returns the positions of the handles that are ready.
    pub(crate) fn wait(&mut self, handles: &[u32]) -> Result<Vec<u32>, ReplayStopped> {
        let first = handles.iter().map(|handle| self.find_deadline(*handle)).min().unwrap_or_default();
        if first == u64::MAX {
            return Err(ReplayStopped); // no handle would ever be ready
        }
        self.now = self.now.max(first.div_ceil(NANOSECONDS));
        let ready = handles.iter().zip(0..).filter(|(handle, _)| self.is_ready(**handle));
        Ok(ready.map(|(_, position)| position).collect())
    }

    /// Answers a request with the recorded response to the first equal request on the tape, or refuses it.
    pub(crate) fn request(&mut self, exchange: u32, request: &TapedRequest) {
        let found = self.offered.iter().position(|(offered, _)| offered == request);
        let answer = found.and_then(|position| self.offered.remove(position).1);
        let refused = || {
            HttpError::new(HttpErrorCode::Simulated, "this is a replay, and its tape has no response to this request")
        };
        self.answered.insert(exchange, answer.unwrap_or_else(|| Err(refused())));
    }

    pub(crate) fn finish(&mut self, exchange: u32) -> HttpAnswer {
        let unknown = || HttpError::new(HttpErrorCode::InvalidRequest, "no request with this number is in flight");
        self.answered.remove(&exchange).unwrap_or_else(|| Err(unknown()))
    }

    /// Replies to questions as the recorded run was replied to equal ones.
    pub(crate) fn reply(&self, questions: &Body) -> Reply {
        let found = self.replies.iter().find(|(asked, _)| asked == questions).map(|(_, reply)| reply.clone());
        let missing = "this is a replay, and its tape has no answer to these questions";
        found.unwrap_or_else(|| Reply::Refused(InputRefused::new(InputErrorCode::Unavailable, missing)))
    }

    fn find_deadline(&self, handle: u32) -> u64 {
        self.timers.get(&handle).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::tape::{Bodies, Counts, End, Readings};

    fn replay(wall: &[u64], monotonic: &[u64]) -> LenientReplay {
        let readings = |values: &[u64]| {
            let mut readings = Readings::default();
            values.iter().for_each(|value| readings.add(*value));
            readings
        };
        let (wall, monotonic) = (readings(wall), readings(monotonic));
        let (entries, rest, bodies) = (Vec::new(), Counts::default(), Bodies::default());
        let tape = Tape { seed: [0; 32], wall, monotonic, entries, rest, end: End::Clock, bodies };
        LenientReplay::new(tape, 1_000)
    }

    #[test]
    fn clocks_show_the_readings_of_the_tape_and_then_stop() {
        let mut replay = replay(&[2_000, 2_001], &[5]);
        assert_eq!([replay.read_wall(), replay.read_wall(), replay.read_wall()], [2_000, 2_001, 2_001]);
        assert_eq!([replay.read_monotonic(), replay.read_monotonic()], [5, 5]);
    }

    #[test]
    fn waiting_advances_time() {
        let mut replay = replay(&[], &[5]);
        replay.set_timer(1, 50 * NANOSECONDS);
        replay.set_timer(2, 70 * NANOSECONDS);
        assert_eq!(replay.wait(&[2, 1]).unwrap(), [1]);
        assert_eq!((replay.read_monotonic(), replay.read_wall()), (50, 1_050));
        assert_eq!(replay.wait(&[2, 9, 1]).unwrap(), [1, 2], "a handle that is no timer is ready");
        assert_eq!(replay.wait(&[2]).unwrap(), [0]);
        assert_eq!((replay.read_monotonic(), replay.read_wall()), (70, 1_070));
        replay.forget(2);
        replay.set_timer(3, u64::MAX);
        assert!(replay.wait(&[3]).is_err());
    }
}
