//! What the last writes say about the disk.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::error::{Error, Result};

/// For so long after a write that the storage refused, none that works proves anything: a full disk has room for a small
/// one when it has none for a record. A server behind a balancer gets no writes while it is not ready, so it has to ask
/// for some after a while.
const DOUBT_TIME: Duration = Duration::from_secs(10);

/// Instead of a moment: no write was refused.
const NEVER: i64 = i64::MIN;

pub(super) struct Storage {
    refused_at: AtomicI64,
}

impl Default for Storage {
    fn default() -> Self {
        Self { refused_at: AtomicI64::new(NEVER) }
    }
}

impl Storage {
    pub(super) fn note<T>(&self, written: &Result<T>, now: Timestamp) {
        if matches!(written, Err(Error::StorageFailing { .. })) {
            self.refused_at.store(now.as_milliseconds(), Ordering::Relaxed);
        }
    }

    /// Whether a write was refused a short time ago.
    pub(super) fn is_in_doubt(&self, now: Timestamp) -> bool {
        let refused_at = self.refused_at.load(Ordering::Relaxed);
        let refused_at = Timestamp::from_milliseconds(refused_at);
        // A clock that goes back ends it.
        (refused_at..refused_at.after(DOUBT_TIME)).contains(&now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_write_is_remembered_for_a_while_whatever_works_then() {
        let (storage, at) = (Storage::default(), |seconds: i64| Timestamp::from_milliseconds(seconds * 1_000));
        assert!(!storage.is_in_doubt(at(0)));
        storage.note(&Err::<(), _>(Error::StorageFailing { detail: "full".into() }), at(1));
        storage.note(&Err::<(), _>(Error::Closed), at(5));
        storage.note(&Ok(()), at(5));
        assert!(storage.is_in_doubt(at(1)) && storage.is_in_doubt(at(10)) && !storage.is_in_doubt(at(11)));
        assert!(!storage.is_in_doubt(at(0)), "the clock went back");
    }
}
