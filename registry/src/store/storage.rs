//! What the last writes say about the disk.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::error::{Error, Result};

/// After a write that the storage refused, for so long only another one proves that it works again. A server behind a
/// balancer gets no writes while it is not ready, so it has to ask for some after a while.
const DOUBT_MAX: Duration = Duration::from_secs(30);

/// Instead of a moment: no write was refused, or one has worked since.
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
        match written {
            Ok(_) => self.refused_at.store(NEVER, Ordering::Relaxed),
            Err(Error::StorageFailing { .. }) => self.refused_at.store(now.as_milliseconds(), Ordering::Relaxed),
            Err(_) => {}
        }
    }

    /// Whether a write was refused a short time ago, and none has worked since.
    pub(super) fn is_in_doubt(&self, now: Timestamp) -> bool {
        let refused_at = self.refused_at.load(Ordering::Relaxed);
        refused_at != NEVER && now < Timestamp::from_milliseconds(refused_at).after(DOUBT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_write_is_remembered_until_one_works_or_time_has_passed() {
        let (storage, at) = (Storage::default(), |seconds: i64| Timestamp::from_milliseconds(seconds * 1_000));
        let refused = || Err::<(), _>(Error::StorageFailing { detail: "full".into() });
        assert!(!storage.is_in_doubt(at(0)));
        storage.note(&refused(), at(1));
        storage.note(&Err::<(), _>(Error::Closed), at(1));
        assert!(storage.is_in_doubt(at(30)) && !storage.is_in_doubt(at(31)));
        storage.note(&Ok(()), at(2));
        assert!(!storage.is_in_doubt(at(2)));
    }
}
