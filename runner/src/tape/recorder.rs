//! The making of a tape.

use super::{Bodies, Counts, Effect, End, Entry, Readings, Tape, Taped};

/// Memory of one tape. Ordinary runs take less than a kilobyte; this is some hundred thousand effects, and as many
/// tapes of this size as there are runs at once fit beside the runs themselves.
const TAPE_BYTES_MAX: usize = 8 << 20;

/// Counts what happens, and keeps it when it is told to.
pub(crate) struct Recorder {
    tape: Option<Box<Tape>>,
    is_cut: bool,
    bytes: usize,
    total: Counts,
    /// What the last entry has told already.
    told: Counts,
    wall: u64,
    monotonic: u64,
}

impl Recorder {
    /// One that counts, and makes a tape that begins with a seed.
    pub(crate) fn new(seed: Option<[u8; 32]>) -> Self {
        let begun = |seed| {
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
        let (total, told) = (Counts::default(), Counts::default());
        Self { tape: seed.map(begun), is_cut: false, bytes: 0, total, told, wall: 0, monotonic: 0 }
    }

    /// Everything up to now, but what was printed.
    pub(crate) const fn counts(&self) -> Counts {
        self.total
    }

    /// How many effects the tape has.
    pub(crate) fn effects(&self) -> usize {
        self.tape.as_ref().map_or(0, |tape| tape.entries.len())
    }

    pub(crate) fn wall(&mut self, value: u64) {
        self.total.wall_reads += 1;
        let Some(tape) = &mut self.tape else { return };
        if tape.wall.add_after(self.wall, value) {
            self.wall = value;
            self.grew(Readings::VALUE_BYTES);
        }
    }

    pub(crate) fn monotonic(&mut self, value: u64) {
        self.total.monotonic_reads += 1;
        let Some(tape) = &mut self.tape else { return };
        if tape.monotonic.add_after(self.monotonic, value) {
            self.monotonic = value;
            self.grew(Readings::VALUE_BYTES);
        }
    }

    pub(crate) fn random(&mut self, bytes: u64) {
        self.total.random_bytes += bytes;
    }

    /// Adds an effect, given what was printed up to now.
    pub(crate) fn push(&mut self, printed_bytes: u64, effect: impl FnOnce(&mut Bodies) -> Effect) {
        let before = self.since_told(printed_bytes);
        let Some(tape) = &mut self.tape else { return };
        let effect = effect(&mut tape.bodies);
        let bytes = size_of::<Entry>() + effect.heap_bytes();
        tape.entries.push(Entry { before, effect });
        let fits = tape.bodies.fit();
        self.grew(if fits { bytes } else { TAPE_BYTES_MAX });
    }

    /// The last entry, for a replay that holds it against its tape.
    pub(crate) fn last(&self) -> Option<&Entry> {
        self.tape.as_ref().and_then(|tape| tape.entries.last())
    }

    /// Ends the tape.
    pub(crate) fn end(&mut self, printed_bytes: u64, end: impl FnOnce() -> End) -> Taped {
        let rest = self.since_told(printed_bytes);
        match self.tape.take() {
            Some(tape) => Taped::Whole(Box::new(Tape { rest, end: end(), ..*tape })),
            None if self.is_cut => Taped::Cut,
            None => Taped::Nothing,
        }
    }

    fn since_told(&mut self, printed_bytes: u64) -> Counts {
        self.total.printed_bytes = printed_bytes;
        let since = self.total.since(self.told);
        self.told = self.total;
        since
    }

    fn grew(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes > TAPE_BYTES_MAX {
            (self.tape, self.is_cut) = (None, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(taped: Taped) -> Tape {
        match taped {
            Taped::Whole(tape) => *tape,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_say_what_came_before_them() {
        let mut recorder = Recorder::new(Some([1; 32]));
        recorder.wall(7);
        recorder.random(3);
        recorder.push(10, |_| Effect::Blocked);
        recorder.wall(7);
        recorder.monotonic(1);
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
    fn looks_that_see_the_same_take_no_room() {
        let mut recorder = Recorder::new(Some([1; 32]));
        for _ in 0..10_000_000_u32 {
            recorder.wall(7);
            recorder.monotonic(8);
        }
        assert_eq!(recorder.bytes, 2 * Readings::VALUE_BYTES);
        let tape = whole(recorder.end(0, || End::Clock));
        assert_eq!(tape.rest.wall_reads, 10_000_000);
        assert!(postcard::to_stdvec(&tape).unwrap().len() < 64);
    }

    #[test]
    fn a_tape_that_grows_too_large_is_cut_and_says_so() {
        let mut recorder = Recorder::new(Some([1; 32]));
        for value in 0..1_000_000 {
            recorder.wall(value);
        }
        assert_eq!(recorder.end(0, || End::Clock), Taped::Cut);
        assert_eq!(recorder.counts().wall_reads, 1_000_000);
        let mut off = Recorder::new(None);
        off.push(0, |_| panic!("nobody wants it"));
        assert_eq!(off.end(0, || End::Clock), Taped::Nothing);
    }
}
