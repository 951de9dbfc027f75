//! The interfaces `wasi:random`.

use wasmtime::{Result, bail};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::host::state::Host;

/// Random bytes that one call may request.
const RANDOM_BYTES_MAX: u64 = 64 << 10;
const WORD_BYTES: u64 = 8;

impl Host {
    fn draw_random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        if length > RANDOM_BYTES_MAX {
            bail!("a request for {length} random bytes exceeds limit {RANDOM_BYTES_MAX}");
        }
        self.recorder.record_random(length);
        let mut bytes = vec![0; usize::try_from(length)?];
        self.random.fill(&mut bytes);
        Ok(bytes)
    }

    fn draw_random_word(&mut self) -> u64 {
        self.recorder.record_random(WORD_BYTES);
        self.random.draw_word()
    }
}

impl random::Host for HostCall<'_> {
    fn get_random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.draw_random_bytes(length)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        Ok(self.draw_random_word())
    }
}

impl insecure::Host for HostCall<'_> {
    fn get_insecure_random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.draw_random_bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64> {
        Ok(self.draw_random_word())
    }
}

impl insecure_seed::Host for HostCall<'_> {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        Ok(self.random.draw_hash_seed())
    }
}
