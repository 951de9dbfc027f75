//! Whether a run is recorded or replayed, and what becomes of its tape.

use serde::{Deserialize, Serialize};

use super::contents::Tape;

/// The source of the answers that a run receives, and whether the run is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TapeMode {
    /// Host calls reach the live environment; no tape is made.
    #[default]
    Off,
    /// Host calls reach the live environment, except that the wall clock starts at `clock_ms` milliseconds since 1970; no tape
    /// is made.
    SetClock { clock_ms: u64 },
    /// Host calls reach the live environment, and a tape is made.
    Record,
    /// Replays the code that recorded the tape: host calls return what the tape has. The first difference ends the run.
    ReplayStrict(Box<Tape>),
    /// Replays other code: host calls return what the tape has for equal calls.
    ReplayLenient {
        tape: Box<Tape>,
        /// Milliseconds since 1970, for a tape without a reading of the wall clock.
        started_at: u64,
    },
}

/// The tape that a run leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TapeResult {
    /// The run was not recorded.
    #[default]
    NotRecorded,
    /// The tape exceeded its size limit and was dropped.
    Cut,
    Recorded(Box<Tape>),
}
