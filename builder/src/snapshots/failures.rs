//! Remembers recent failures to make a snapshot. A package that hangs would otherwise delay every build that uses it, and
//! all builds that wait. A failure that passes, such as a child that the system killed, is remembered for seconds only.

use std::time::Duration;

use registry::{ByteCache, CacheBound, Digest, HeapBytes};
use tokio::time::Instant;

use crate::error::Error;

/// Time until the next attempt after a failure that the packages cause.
const LASTING: Duration = Duration::from_secs(600);
/// Time until the next attempt after a timeout, which a busy machine or a package that hangs causes. It doubles with each timeout
/// of the same packages up to [`LASTING`].
const TIMED_OUT: Duration = Duration::from_secs(30);
/// Time until the next attempt after a failure of the machine.
const PASSING: Duration = Duration::from_secs(2);
/// Some 1,000 failures with their reasons.
pub(crate) const FAILURES: CacheBound = CacheBound { name: "failures of snapshots", bytes_max: 512 << 10 };
/// Age at which a failure is dropped. Its pause is known until then.
const AGE_MAX: Duration = Duration::from_secs(1_200);

/// A failed attempt.
#[derive(Debug)]
pub struct Failed {
    pub reason: String,
    pub persistence: Persistence,
}

/// What the next attempt depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// The packages.
    Lasting,
    /// The packages, or the load of the machine.
    TimedOut,
    /// The machine.
    Passing,
}

impl Failed {
    pub fn of(error: &Error) -> Self {
        let is_passing = matches!(error, Error::Runner(runner::Error::ProcessLost { .. }));
        let persistence = if is_passing { Persistence::Passing } else { Persistence::Lasting };
        Self { reason: error.to_string(), persistence }
    }

    pub fn too_slow() -> Self {
        Self { reason: "importing them took too long".to_owned(), persistence: Persistence::TimedOut }
    }
}

/// Failures by the key of the snapshot.
#[derive(Debug)]
pub struct Failures(ByteCache<Digest, FailureEntry>);

#[derive(Clone, Debug)]
struct FailureEntry {
    reason: String,
    until: Instant,
    pause: Duration,
}

impl HeapBytes for FailureEntry {
    fn heap_bytes(&self) -> usize {
        self.reason.heap_bytes()
    }
}

impl Default for Failures {
    fn default() -> Self {
        Self(ByteCache::new(FAILURES).with_ttl(AGE_MAX))
    }
}

impl Failures {
    /// The reason of the last attempt, until the time of the next one.
    pub fn find_reason(&self, key: &Digest, now: Instant) -> Option<String> {
        self.0.get(key).filter(|entry| now < entry.until).map(|entry| entry.reason)
    }

    /// Remembers a failure, and returns its reason.
    pub fn add(&self, key: Digest, failed: &Failed, now: Instant) -> String {
        let before = self.0.get(&key).map(|entry| entry.pause);
        let pause = match failed.persistence {
            Persistence::Lasting => LASTING,
            Persistence::TimedOut => before.map_or(TIMED_OUT, |before| (before * 2).clamp(TIMED_OUT, LASTING)),
            Persistence::Passing => PASSING,
        };
        self.0.insert(key, FailureEntry { reason: failed.reason.clone(), until: now + pause, pause });
        failed.reason.clone()
    }

    /// Forgets a failure.
    pub fn forget(&self, key: &Digest) {
        self.0.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(persistence: Persistence) -> Failed {
        Failed { reason: format!("{persistence:?}"), persistence }
    }

    #[test]
    fn failures_have_a_bound_in_bytes() {
        let (failures, now) = (Failures::default(), Instant::now());
        let key = |number: usize| Digest::of(&number.to_le_bytes());
        for number in 0..100 {
            assert_eq!(failures.find_reason(&key(number), now), None);
            let reason = format!("failure {number}{}", ".".repeat(20 << 10));
            let failed = Failed { reason: reason.clone(), persistence: Persistence::Lasting };
            assert_eq!(failures.add(key(number), &failed, now), reason);
            assert!(failures.0.bytes() <= FAILURES.bytes_max);
        }
    }

    #[test]
    fn only_failures_of_the_packages_last() {
        let (failures, key, mut now) = (Failures::default(), Digest::of(b"packages"), Instant::now());
        failures.add(key, &failed(Persistence::Passing), now);
        now += PASSING;
        assert_eq!(failures.find_reason(&key, now), None);
        let mut expected = TIMED_OUT;
        for _ in 0..7 {
            failures.add(key, &failed(Persistence::TimedOut), now);
            now += expected;
            assert!(failures.find_reason(&key, now - Duration::from_millis(1)).is_some(), "{expected:?}");
            assert_eq!(failures.find_reason(&key, now), None, "{expected:?}");
            expected = (expected * 2).min(LASTING);
        }
        let killed = Error::Runner(runner::Error::process_lost("importing", "signal: 9"));
        assert_eq!(Failed::of(&killed).persistence, Persistence::Passing);
        assert_eq!(Failed::of(&Error::failed("compile", "import", "no")).persistence, Persistence::Lasting);
    }
}
