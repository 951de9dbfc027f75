//! Whether the disk has refused a write recently.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::error::{Error, Result};

/// Time after a refused write in which a successful write proves nothing: a full disk may accept a small write and
/// refuse a record. A server that is not ready gets no writes from a load balancer, so it must become ready again to
/// find out.
const DOUBT_TIME: Duration = Duration::from_secs(10);

/// Stands for "no write was refused".
const NEVER: i64 = i64::MIN;

pub(super) struct StorageHealth {
    refused_at: AtomicI64,
}

impl Default for StorageHealth {
    fn default() -> Self {
        Self { refused_at: AtomicI64::new(NEVER) }
    }
}

impl StorageHealth {
    pub(super) fn note<T>(&self, written: &Result<T>, now: Timestamp) {
        if matches!(written, Err(Error::StorageFailing { .. })) {
            self.refused_at.store(now.as_milliseconds(), Ordering::Relaxed);
        }
    }

    /// Whether a write was refused within the last [`DOUBT_TIME`].
    pub(super) fn is_in_doubt(&self, now: Timestamp) -> bool {
        let refused_at = self.refused_at.load(Ordering::Relaxed);
        let refused_at = Timestamp::from_milliseconds(refused_at);
        // A clock that goes back ends the doubt.
        (refused_at..refused_at.after(DOUBT_TIME)).contains(&now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_write_counts_for_ten_seconds_whatever_succeeds_since() {
        let (health, at) = (StorageHealth::default(), |seconds: i64| Timestamp::from_milliseconds(seconds * 1_000));
        assert!(!health.is_in_doubt(at(0)));
        health.note(&Err::<(), _>(Error::StorageFailing { detail: "full".into() }), at(1));
        health.note(&Err::<(), _>(Error::Closed), at(5));
        health.note(&Ok(()), at(5));
        assert!(health.is_in_doubt(at(1)) && health.is_in_doubt(at(10)) && !health.is_in_doubt(at(11)));
        assert!(!health.is_in_doubt(at(0)), "the clock went back");
    }
}
