//! Randomness: the thread's generator, seeded by the operating system.

use rand::RngExt;
use rand::distr::{Alphanumeric, SampleString};

/// Returns `N` unpredictable bytes.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill(&mut bytes);
    bytes
}

/// Returns `length` unpredictable characters of `0-9A-Za-z`; 43 of them carry 256 bits.
pub(crate) fn base62(length: usize) -> String {
    Alphanumeric.sample_string(&mut rand::rng(), length)
}
