//! Where a run's answers come from: the world, or a tape.

use super::clock::World;
use crate::tape::{Free, Strict, Taping};

pub enum Source {
    World(World),
    /// The tape of the same code.
    Strict(Strict),
    /// The tape of other code.
    Free(Free),
}

impl Source {
    /// The source, the seed of the run's randomness, and whether a tape is made.
    pub fn of(taping: Taping) -> (Self, [u8; 32], bool) {
        match taping {
            Taping::Off => (Self::World(World::start()), rand::random(), false),
            Taping::Set { clock_ms } => (Self::World(World::start_at(clock_ms)), rand::random(), false),
            Taping::On => (Self::World(World::start()), rand::random(), true),
            Taping::Again(tape) => {
                let seed = tape.seed;
                (Self::Strict(Strict::new(*tape)), seed, true)
            }
            Taping::Otherwise { tape, started_at } => {
                let seed = tape.seed;
                (Self::Free(Free::new(*tape, started_at)), seed, true)
            }
        }
    }

    pub const fn is_world(&self) -> bool {
        matches!(self, Self::World(_))
    }
}
