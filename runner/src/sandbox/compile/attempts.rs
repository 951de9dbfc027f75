//! The memory of failed attempts to compile.
//!
//! A refusal is a property of the component: the child said it, or reached its own limits. Other failures pass, such as a child that
//! the system killed for lack of memory. They are tried again after a pause, which is short and bounded.

use std::time::Duration;

use registry::{ByteCache, CacheBound, Digest, HeapBytes};
use tokio::time::Instant;

use super::maker::Maker;
use crate::Error;

/// Time for which a refused component is not compiled again. Each attempt may take all of its time, and there is one at a time.
const REFUSAL_TTL: Duration = Duration::from_secs(600);
/// Pause after a passing failure; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(500);
/// Longest pause. A call waits for it.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Failures of some 2,000 components, with their reasons.
pub(crate) const REFUSALS: CacheBound = CacheBound { name: "refused components", bytes_max: 1 << 20 };

pub(super) type ComponentKey = (Digest, Maker);

/// Failed attempts by component.
#[derive(Debug)]
pub(super) struct Attempts(ByteCache<ComponentKey, Failure>);

#[derive(Clone, Debug)]
enum Failure {
    Refused { until: Instant, reason: String },
    Passing { until: Instant, pause: Duration },
}

impl HeapBytes for Failure {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Refused { reason, .. } => reason.heap_bytes(),
            Self::Passing { .. } => 0,
        }
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self(ByteCache::new(REFUSALS).with_ttl(REFUSAL_TTL))
    }
}

impl Attempts {
    /// The reason of a refusal that holds.
    pub fn find_refusal(&self, key: &ComponentKey, now: Instant) -> Option<String> {
        match self.0.get(key)? {
            Failure::Refused { until, reason } => (now < until).then_some(reason),
            Failure::Passing { .. } => None,
        }
    }

    /// The rest of the pause after a passing failure.
    pub fn compute_pause(&self, key: &ComponentKey, now: Instant) -> Option<Duration> {
        match self.0.get(key)? {
            Failure::Passing { until, .. } => until.checked_duration_since(now).filter(|rest| !rest.is_zero()),
            Failure::Refused { .. } => None,
        }
    }

    /// Remembers a failure.
    pub fn add(&self, key: ComponentKey, error: &Error, now: Instant) {
        let failure = match error {
            Error::Rejected { reason } => Failure::Refused { until: now + REFUSAL_TTL, reason: reason.clone() },
            Error::ProcessLost { .. } => {
                let pause = self.find_last_pause(&key).map_or(PAUSE_MIN, |pause| (pause * 2).min(PAUSE_MAX));
                Failure::Passing { until: now + pause, pause }
            }
            _ => return,
        };
        self.0.insert(key, failure);
    }

    /// Forgets the failures of a component that is compiled now.
    pub fn forget(&self, key: &ComponentKey) {
        self.0.remove(key);
    }

    fn find_last_pause(&self, key: &ComponentKey) -> Option<Duration> {
        match self.0.get(key)? {
            Failure::Passing { pause, .. } => Some(pause),
            Failure::Refused { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_end_with_a_success() {
        let (attempts, key, now) = (Attempts::default(), (Digest::of(b"one"), Maker::Platform), Instant::now());
        let lost = Error::process_lost("compiling", "signal: 9");
        for seconds in [0.5, 1.0, 2.0, 4.0, 5.0, 5.0] {
            attempts.add(key, &lost, now);
            assert_eq!(attempts.compute_pause(&key, now), Some(Duration::from_secs_f64(seconds)));
            assert_eq!(attempts.find_refusal(&key, now), None);
        }
        assert_eq!(attempts.compute_pause(&key, now + PAUSE_MAX), None);
        attempts.forget(&key);
        attempts.add(key, &lost, now);
        assert_eq!(attempts.compute_pause(&key, now), Some(PAUSE_MIN));
        attempts.add(key, &Error::rejected("too odd"), now);
        assert_eq!(
            (attempts.find_refusal(&key, now).as_deref(), attempts.compute_pause(&key, now)),
            (Some("too odd"), None)
        );
        assert_eq!(attempts.find_refusal(&key, now + REFUSAL_TTL), None);
    }
}
