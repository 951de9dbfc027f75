//! Whether a run is recorded or replayed, and what becomes of its tape.

use serde::{Deserialize, Serialize};

use super::contents::Tape;

/// The source of the answers that a run receives, and whether the run is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TapeMode {
    /// The live environment answers; no tape is made.
    #[default]
    Off,
    /// The live environment answers, except that the wall clock starts at `clock_ms` milliseconds since 1970; no tape
    /// is made.
    SetClock { clock_ms: u64 },
    /// The live environment answers, and a tape is made.
    Record,
    /// A tape answers the code that recorded it. The first difference ends the run.
    ReplayStrict(Box<Tape>),
    /// A tape answers other code, as far as it can.
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
