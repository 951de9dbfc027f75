//! The rules of users that made calls of late.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{LibraryScope, Timestamp};

use crate::native::EnforcedRules;

/// Users whose rules are kept in memory. A full cache drops all.
const USERS_MAX: usize = 1_024;
/// Time after which rules are read again although no change was announced.
const KEPT: Duration = Duration::from_secs(1);

/// The rules of users that made calls of late.
#[derive(Clone, Default)]
pub(super) struct RuleCache(Arc<Mutex<HashMap<LibraryScope, RuleEntry>>>);

pub(super) struct RuleEntry {
    /// The number of changes of the user's rules before they were read.
    pub generation: u64,
    pub read_at: Timestamp,
    pub rules: Arc<EnforcedRules>,
}

impl RuleCache {
    pub fn get(&self, scope: &LibraryScope, (generation, now): (u64, Timestamp)) -> Option<Arc<EnforcedRules>> {
        let entries = self.0.lock();
        let is_present = |entry: &&RuleEntry| entry.generation == generation && now < entry.read_at.after(KEPT);
        entries.get(scope).filter(is_present).map(|entry| entry.rules.clone())
    }

    pub fn keep(&self, scope: &LibraryScope, entry: RuleEntry) {
        let mut entries = self.0.lock();
        if entries.len() >= USERS_MAX && !entries.contains_key(scope) {
            entries.clear();
        }
        entries.insert(scope.clone(), entry);
    }
}
