//! Locks by key.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use registry::Digest;
use tokio::sync::Mutex;

/// Locks by key. A lock exists while a task has it or waits for it, so that there are as many as builds at the most.
#[derive(Debug, Default)]
pub struct KeyedLocks(parking_lot::Mutex<HashMap<Digest, Weak<Mutex<()>>>>);

impl KeyedLocks {
    /// Returns the lock of a key, the same one to all tasks that want it at the same time.
    pub fn lock_of(&self, key: Digest) -> Arc<Mutex<()>> {
        let mut locks = self.0.lock();
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(&key).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(key, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tasks_with_one_key_take_turns_and_others_do_not_wait() {
        let locks = KeyedLocks::default();
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let first = locks.lock_of(one);
        let held = first.lock().await;
        assert!(locks.lock_of(one).try_lock().is_err());
        assert!(locks.lock_of(other).try_lock().is_ok());
        drop(held);
        assert!(locks.lock_of(one).try_lock().is_ok());
        drop(first);
        locks.lock_of(other);
        assert_eq!(locks.0.lock().len(), 1, "locks that nobody wants are gone");
    }
}
