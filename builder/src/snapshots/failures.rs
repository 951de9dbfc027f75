//! Remembers recent failures to make a snapshot. A package that hangs would otherwise delay every build that uses it, and
//! all builds that wait. Entries expire, since the machine may only have been busy.

use std::time::Duration;

use registry::{ByteCache, CacheBound, Digest};

/// Time until the next attempt.
const RETRY_AFTER: Duration = Duration::from_secs(600);
/// Some 1,000 failures with their reasons.
pub(crate) const FAILURES: CacheBound = CacheBound { name: "failures of snapshots", bytes_max: 512 << 10 };

/// Reasons by the key of the snapshot.
#[derive(Debug)]
pub struct Failures(ByteCache<Digest, String>);

impl Default for Failures {
    fn default() -> Self {
        Self(ByteCache::new(FAILURES).with_ttl(RETRY_AFTER))
    }
}

impl Failures {
    /// The reason of the last attempt, if it was recent.
    pub fn reason(&self, key: &Digest) -> Option<String> {
        self.0.get(key)
    }

    /// Remembers a failure, and returns its reason.
    pub fn add(&self, key: Digest, reason: String) -> String {
        self.0.insert(key, reason.clone());
        reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_a_bound_in_bytes() {
        let failures = Failures::default();
        let key = |number: usize| Digest::of(&number.to_le_bytes());
        for number in 0..100 {
            assert_eq!(failures.reason(&key(number)), None);
            let reason = format!("failure {number}{}", ".".repeat(20 << 10));
            assert_eq!(failures.add(key(number), reason.clone()), reason);
            assert!(failures.0.bytes() <= FAILURES.bytes_max);
        }
    }
}
