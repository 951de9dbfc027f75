//! Random numbers of a run. One seed gives all of them, so that a tape keeps only the seed.
//!
//! The generator is named (ChaCha with 12 rounds), since the standard generator of `rand` may change between releases.

use chacha20::ChaCha12Rng;
use rand::{Rng, SeedableRng};

/// The stream of the generator from which hash tables are seeded.
const HASHES_STREAM: u64 = 1;

pub struct Random {
    generator: ChaCha12Rng,
    hashes: ChaCha12Rng,
}

impl Random {
    pub fn new(seed: [u8; 32]) -> Self {
        let mut hashes = ChaCha12Rng::from_seed(seed);
        hashes.set_stream(HASHES_STREAM);
        Self { generator: ChaCha12Rng::from_seed(seed), hashes }
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.generator.fill_bytes(bytes);
    }

    pub fn draw_word(&mut self) -> u64 {
        self.generator.next_u64()
    }

    pub fn draw_hash_seed(&mut self) -> (u64, u64) {
        (self.hashes.next_u64(), self.hashes.next_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tapes of other releases depend on it.
    #[test]
    fn a_seed_gives_the_same_bytes_for_ever() {
        let mut random = Random::new([7; 32]);
        let mut bytes = [0; 8];
        random.generator.fill_bytes(&mut bytes);
        let words = [random.generator.next_u64(), random.hashes.next_u64()];
        let told = (hex::encode(bytes), format!("{words:x?}"));
        assert_eq!(told, ("f692897885c0cb20".to_owned(), "[bc150b6a10cde4a3, 5784f874ed6099b6]".to_owned()));
    }
}
