//! Makes a tape while a run goes on.

use super::contents::{End, Tape, TapeEntry};
use super::effect::{Counts, Effect};
use super::exchange::Bodies;
use super::mode::TapeResult;
use super::readings::Readings;

/// Memory of one tape: some hundred thousand effects. Ordinary runs take less than a kilobyte. One tape of this size
/// for each concurrent run fits into memory beside the runs.
const TAPE_BYTES_MAX: usize = 8 << 20;

/// Counts effects, and keeps them when the run is recorded.
pub(crate) struct Recorder {
    tape: Option<Box<Tape>>,
    is_cut: bool,
    bytes: usize,
    total: Counts,
    /// Counts up to the last entry.
    counted: Counts,
    wall: u64,
    monotonic: u64,
}

impl Recorder {
    /// Counts effects, and makes a tape when a seed is given.
    pub(crate) fn new(seed: Option<[u8; 32]>) -> Self {
        let empty = |seed| {
            Box::new(Tape {
                seed,
                wall: Readings::default(),
                monotonic: Readings::default(),
                entries: Vec::new(),
                rest: Counts::default(),
                end: End::Stopped,
                bodies: Bodies::default(),
            })
        };
        let (total, counted) = (Counts::default(), Counts::default());
        Self { tape: seed.map(empty), is_cut: false, bytes: 0, total, counted, wall: 0, monotonic: 0 }
    }

    /// Counts up to now, without printed bytes.
    pub(crate) const fn counts(&self) -> Counts {
        self.total
    }

    /// Number of effects on the tape.
    pub(crate) fn effects(&self) -> usize {
        self.tape.as_ref().map_or(0, |tape| tape.entries.len())
    }

    pub(crate) fn record_wall(&mut self, value: u64) {
        self.total.wall_reads += 1;
        let Some(tape) = &mut self.tape else { return };
        if tape.wall.add_after(self.wall, value) {
            self.wall = value;
            self.note_growth(Readings::VALUE_BYTES);
        }
    }

    pub(crate) fn record_monotonic(&mut self, value: u64) {
        self.total.monotonic_reads += 1;
        let Some(tape) = &mut self.tape else { return };
        if tape.monotonic.add_after(self.monotonic, value) {
            self.monotonic = value;
            self.note_growth(Readings::VALUE_BYTES);
        }
    }

    pub(crate) fn record_random(&mut self, bytes: u64) {
        self.total.random_bytes += bytes;
    }

    /// Adds an effect, given the number of bytes printed up to now.
    pub(crate) fn push(&mut self, printed_bytes: u64, effect: impl FnOnce(&mut Bodies) -> Effect) {
        let before = self.count_since_last_entry(printed_bytes);
        let Some(tape) = &mut self.tape else { return };
        let effect = effect(&mut tape.bodies);
        let bytes = size_of::<TapeEntry>() + effect.heap_bytes();
        tape.entries.push(TapeEntry { before, effect });
        let fits = tape.bodies.fit();
        self.note_growth(if fits { bytes } else { TAPE_BYTES_MAX });
    }

    /// The last entry, which a replay compares with its tape.
    pub(crate) fn last(&self) -> Option<&TapeEntry> {
        self.tape.as_ref().and_then(|tape| tape.entries.last())
    }

    /// Ends the tape and returns it.
    pub(crate) fn end(&mut self, printed_bytes: u64, end: impl FnOnce() -> End) -> TapeResult {
        let rest = self.count_since_last_entry(printed_bytes);
        match self.tape.take() {
            Some(tape) => TapeResult::Recorded(Box::new(Tape { rest, end: end(), ..*tape })),
            None if self.is_cut => TapeResult::Cut,
            None => TapeResult::NotRecorded,
        }
    }

    fn count_since_last_entry(&mut self, printed_bytes: u64) -> Counts {
        self.total.printed_bytes = printed_bytes;
        let since = self.total.since(self.counted);
        self.counted = self.total;
        since
    }

    fn note_growth(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes > TAPE_BYTES_MAX {
            (self.tape, self.is_cut) = (None, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(result: TapeResult) -> Tape {
        match result {
            TapeResult::Recorded(tape) => *tape,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_count_earlier_effects() {
        let mut recorder = Recorder::new(Some([1; 32]));
        recorder.record_wall(7);
        recorder.record_random(3);
        recorder.push(10, |_| Effect::Blocked);
        recorder.record_wall(7);
        recorder.record_monotonic(1);
        recorder.push(10, |_| Effect::Blocked);
        let tape = whole(recorder.end(12, || End::Clock));
        let counts = |wall_reads, monotonic_reads, random_bytes, printed_bytes| Counts {
            wall_reads,
            monotonic_reads,
            random_bytes,
            printed_bytes,
        };
        let before: Vec<_> = tape.entries.iter().map(|entry| entry.before).collect();
        assert_eq!(before, [counts(1, 0, 3, 10), counts(1, 1, 0, 0)]);
        assert_eq!((tape.rest, tape.end), (counts(0, 0, 0, 2), End::Clock));
    }

    #[test]
    fn equal_readings_take_no_memory() {
        let mut recorder = Recorder::new(Some([1; 32]));
        for _ in 0..10_000_000_u32 {
            recorder.record_wall(7);
            recorder.record_monotonic(8);
        }
        assert_eq!(recorder.bytes, 2 * Readings::VALUE_BYTES);
        let tape = whole(recorder.end(0, || End::Clock));
        assert_eq!(tape.rest.wall_reads, 10_000_000);
        assert!(postcard::to_stdvec(&tape).unwrap().len() < 64);
    }

    #[test]
    fn a_tape_that_grows_too_large_is_cut() {
        let mut recorder = Recorder::new(Some([1; 32]));
        for value in 0..1_000_000 {
            recorder.record_wall(value);
        }
        assert_eq!(recorder.end(0, || End::Clock), TapeResult::Cut);
        assert_eq!(recorder.counts().wall_reads, 1_000_000);
        let mut off = Recorder::new(None);
        off.push(0, |_| panic!("the run is not recorded"));
        assert_eq!(off.end(0, || End::Clock), TapeResult::NotRecorded);
    }
}
