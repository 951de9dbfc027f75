//! Where a tool's randomness comes from, and how much of it a run gets.

use std::convert::Infallible;

use rand::rngs::StdRng;
use rand::{SeedableRng, TryRng};

use super::count::Count;

/// A generator of its own for every run, seeded from the process's.
pub fn source(bytes: Count) -> Counted {
    Counted { generator: StdRng::from_rng(&mut rand::rng()), bytes }
}

pub struct Counted {
    generator: StdRng,
    bytes: Count,
}

impl TryRng for Counted {
    type Error = Infallible;

    /// WASI's bytes are drawn one by one, of a word each.
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.bytes.add(1);
        self.generator.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.bytes.add(8);
        self.generator.try_next_u64()
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        self.bytes.add(destination.len() as u64);
        self.generator.try_fill_bytes(destination)
    }
}
