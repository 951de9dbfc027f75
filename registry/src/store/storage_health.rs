//! Whether the disk has refused a write recently.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::kit::clock::Timestamp;
use crate::store::queued::WriteError;

/// Time after a refused write in which a successful write proves nothing: a full disk may accept a small write and
/// refuse a record. A server that is not ready gets no writes from a load balancer, so it must become ready again to
/// find out.
const DOUBT_TIME: Duration = Duration::from_secs(10);

/// Free space without which the doubt goes on: more than the largest single write, so that a full disk refuses no request of a
/// server that has just become ready.
pub(super) const SPACE_BYTES_MIN: u64 = 16 << 20;

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
    pub(super) fn note<T, E: WriteError>(&self, written: &Result<T, E>, now: Timestamp) {
        let refused = written.as_ref().err().and_then(E::store_error);
        if matches!(refused, Some(Error::StorageFailing { .. })) {
            self.note_refusal(now);
        }
    }

    pub(super) fn note_refusal(&self, now: Timestamp) {
        self.refused_at.store(now.as_milliseconds(), Ordering::Relaxed);
    }

    /// Whether a write was refused within the last [`DOUBT_TIME`], or was refused before and the disk still has no space.
    pub(super) fn is_in_doubt(&self, now: Timestamp, has_space: impl FnOnce() -> bool) -> bool {
        let refused_at = self.refused_at.load(Ordering::Relaxed);
        if refused_at == NEVER {
            return false;
        }
        let at = Timestamp::from_milliseconds(refused_at);
        // A clock that goes back ends the time.
        if (at..at.after(DOUBT_TIME)).contains(&now) || !has_space() {
            return true;
        }
        // A write that was refused meanwhile begins a new doubt.
        let _ = self.refused_at.compare_exchange(refused_at, NEVER, Ordering::Relaxed, Ordering::Relaxed);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(seconds * 1_000)
    }

    fn refused_at(seconds: i64) -> StorageHealth {
        let health = StorageHealth::default();
        health.note(&Err::<(), _>(Error::StorageFailing { detail: "full".into() }), at(seconds));
        health
    }

    #[test]
    fn a_refused_write_counts_for_ten_seconds_whatever_succeeds_since() {
        let health = refused_at(1);
        health.note(&Err::<(), _>(Error::Closed), at(5));
        health.note(&Ok::<_, Error>(()), at(5));
        let is_in_doubt = |seconds| health.is_in_doubt(at(seconds), || true);
        assert!(is_in_doubt(1) && is_in_doubt(10) && !is_in_doubt(11));
        assert!(!StorageHealth::default().is_in_doubt(at(0), || false), "nothing was refused");
        assert!(!refused_at(1).is_in_doubt(at(0), || true), "the clock went back");
    }

    #[test]
    fn a_disk_without_space_stays_in_doubt() {
        let health = refused_at(1);
        assert!(health.is_in_doubt(at(60), || false) && health.is_in_doubt(at(3_600), || false));
        assert!(!health.is_in_doubt(at(3_601), || true));
        assert!(!health.is_in_doubt(at(3_602), || false), "no write was refused since there was space");
    }
}
