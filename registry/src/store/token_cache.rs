//! Principals of tokens checked a moment ago, so that a run does not pay a read for its caller.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Timestamp;
use crate::principal::Principal;

/// A revoked token or right is honoured no longer than this.
const FRESH: Duration = Duration::from_secs(1);
/// Tokens remembered at once; beyond it the memory is emptied, which costs one read per caller.
const ENTRIES_MAX: usize = 4096;

#[derive(Default)]
pub(super) struct TokenCache(Mutex<HashMap<[u8; 32], Entry>>);

#[derive(Clone)]
pub(super) struct Checked {
    pub principal: Principal,
    pub expires_at: Timestamp,
}

struct Entry {
    checked: Checked,
    since: Instant,
}

impl TokenCache {
    pub fn get(&self, token_hash: &[u8; 32]) -> Option<Checked> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(token_hash).filter(|entry| entry.since.elapsed() < FRESH);
        entry.map(|entry| entry.checked.clone())
    }

    pub fn put(&self, token_hash: [u8; 32], checked: Checked) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES_MAX {
            entries.clear();
        }
        #[expect(clippy::disallowed_methods, reason = "an age in memory, whatever the clock says")]
        let since = Instant::now();
        entries.insert(token_hash, Entry { checked, since });
    }
}
