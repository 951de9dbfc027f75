//! Where a tool's randomness comes from.

use rand::SeedableRng;
use rand::rngs::StdRng;

/// A generator of its own for every run, seeded from the process's.
pub fn source() -> StdRng {
    StdRng::from_rng(&mut rand::rng())
}
