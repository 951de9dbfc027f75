//! Randomness: one generator for a run, from one seed, so that the tape needs to keep no more.
//!
//! ChaCha with 12 rounds, by name: what `rand` calls standard may be another one in its next release.

use chacha20::ChaCha12Rng;
use rand::{Rng, SeedableRng};
use wasmtime::{Result, bail};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

/// The most random bytes that one call may ask for.
const RANDOM_BYTES_MAX: u64 = 64 << 10;
const WORD_BYTES: u64 = 8;
/// Of the generator's streams, the one that hash tables are seeded from.
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
}

impl super::Host {
    fn random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        if length > RANDOM_BYTES_MAX {
            bail!("a request for {length} random bytes exceeds limit {RANDOM_BYTES_MAX}");
        }
        self.recorder.random(length);
        let mut bytes = vec![0; usize::try_from(length)?];
        self.random.generator.fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn random_word(&mut self) -> u64 {
        self.recorder.random(WORD_BYTES);
        self.random.generator.next_u64()
    }
}

impl random::Host for super::Called<'_> {
    fn get_random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.random_bytes(length)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        Ok(self.random_word())
    }
}

impl insecure::Host for super::Called<'_> {
    fn get_insecure_random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.random_bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64> {
        Ok(self.random_word())
    }
}

impl insecure_seed::Host for super::Called<'_> {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        Ok((self.random.hashes.next_u64(), self.random.hashes.next_u64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tapes of other releases count on it.
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
