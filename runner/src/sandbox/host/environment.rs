//! The environment that answers a run: the live one, or a tape.

use super::live_clock::LiveClock;
use crate::sandbox::tape::{LenientReplay, StrictReplay, TapeMode};

pub enum Environment {
    Live(LiveClock),
    /// A replay of the code that recorded the tape.
    Strict(StrictReplay),
    /// A replay of other code.
    Lenient(LenientReplay),
}

/// An environment, and the start of its tape.
pub struct Prepared {
    pub environment: Environment,
    /// Seed of the run's random number generator.
    pub seed: [u8; 32],
    pub is_recorded: bool,
}

impl Environment {
    pub fn of(mode: TapeMode) -> Prepared {
        let live = |clock, is_recorded| Prepared { environment: Self::Live(clock), seed: rand::random(), is_recorded };
        let replayed = |environment, seed| Prepared { environment, seed, is_recorded: true };
        match mode {
            TapeMode::Off => live(LiveClock::start(), false),
            TapeMode::SetClock { clock_ms } => live(LiveClock::start_at(clock_ms), false),
            TapeMode::Record => live(LiveClock::start(), true),
            TapeMode::ReplayStrict(tape) => {
                let seed = tape.seed;
                replayed(Self::Strict(StrictReplay::new(*tape)), seed)
            }
            TapeMode::ReplayLenient { tape, started_at } => {
                let seed = tape.seed;
                replayed(Self::Lenient(LenientReplay::new(*tape, started_at)), seed)
            }
        }
    }

    pub const fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }
}
