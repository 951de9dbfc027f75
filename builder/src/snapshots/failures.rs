//! Packages whose child failed a moment ago. A package that hangs would take its time from every publication, and from all that
//! wait behind it; a machine that was too busy should have another try.

use std::collections::VecDeque;
use std::time::Duration;

use registry::Digest;
use tokio::time::Instant;

/// Until the next try.
const FOR: Duration = Duration::from_secs(600);
/// The oldest makes room.
const COUNT_MAX: usize = 64;

/// Why, by the snapshot that there would be.
#[derive(Debug, Default)]
pub struct Failures(VecDeque<(Digest, String, Instant)>);

impl Failures {
    /// Of the last try, if it is not long ago.
    pub fn reason(&mut self, key: &Digest) -> Option<&str> {
        self.0.retain(|(_, _, at)| at.elapsed() < FOR);
        self.0.iter().find(|(failed, ..)| failed == key).map(|(_, reason, _)| reason.as_str())
    }

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
    fn a_failure_is_remembered_until_there_are_too_many() {
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
