//! Remembers recent failures to make a snapshot. A package that hangs would otherwise delay every build that uses it, and
//! all builds that wait. Entries expire, since the machine may only have been busy.

use std::collections::VecDeque;
use std::time::Duration;

use registry::Digest;
use tokio::time::Instant;

/// Time until the next attempt.
const RETRY_AFTER: Duration = Duration::from_secs(600);
/// Remembered failures; the oldest is evicted.
const COUNT_MAX: usize = 64;

/// Reasons by the key of the snapshot.
#[derive(Debug, Default)]
pub struct Failures(VecDeque<(Digest, String, Instant)>);

impl Failures {
    /// The reason of the last attempt, if it was recent.
    pub fn reason(&mut self, key: &Digest) -> Option<&str> {
        self.0.retain(|(_, _, at)| at.elapsed() < RETRY_AFTER);
        self.0.iter().find(|(failed, ..)| failed == key).map(|(_, reason, _)| reason.as_str())
    }

    /// Remembers a failure, and returns its reason.
    pub fn add(&mut self, key: Digest, reason: String) -> &str {
        if self.0.len() == COUNT_MAX {
            self.0.pop_front();
        }
        self.0.push_back((key, reason, Instant::now()));
        self.0.back().map_or("", |(_, reason, _)| reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_failure_is_evicted() {
        let mut failures = Failures::default();
        let key = |number: usize| Digest::of(&number.to_le_bytes());
        for number in 0..=COUNT_MAX {
            assert_eq!(failures.reason(&key(number)), None);
            assert_eq!(failures.add(key(number), format!("failure {number}")), format!("failure {number}"));
        }
        assert_eq!(failures.reason(&key(0)), None);
        assert_eq!(failures.reason(&key(1)), Some("failure 1"));
    }
}
