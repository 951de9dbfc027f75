//! The rules of users that made calls of late.

use std::sync::Arc;
use std::time::Duration;

use registry::{ByteCache, CacheBound, HeapBytes, Timestamp};

use crate::domain::library::LibraryScope;
use crate::library::EnforcedRules;

/// The rules of some 20,000 users with few rules, and of at least 60 with many.
pub(crate) const RULES: CacheBound = CacheBound { name: "rules of users", bytes_max: 8 << 20 };
/// Time after which rules are read again although no change was announced.
const KEPT: Duration = Duration::from_secs(1);

/// The rules of users that made calls of late.
#[derive(Clone)]
pub(super) struct RuleCache(Arc<ByteCache<LibraryScope, RuleEntry>>);

#[derive(Clone)]
pub(super) struct RuleEntry {
    /// The number of changes of the user's rules before they were read.
    pub generation: u64,
    pub read_at: Timestamp,
    pub rules: Arc<EnforcedRules>,
}

impl Default for RuleCache {
    fn default() -> Self {
        Self(Arc::new(ByteCache::new(RULES).with_ttl(KEPT)))
    }
}

impl RuleCache {
    pub fn get(&self, scope: &LibraryScope, generation: u64, now: Timestamp) -> Option<Arc<EnforcedRules>> {
        let is_present = |entry: &RuleEntry| entry.generation == generation && now < entry.read_at.after(KEPT);
        self.0.get(scope).filter(is_present).map(|entry| entry.rules)
    }

    pub fn keep(&self, scope: &LibraryScope, entry: RuleEntry) {
        self.0.insert(scope.clone(), entry);
    }

    pub fn drop_expired(&self) {
        self.0.drop_expired();
    }
}

impl HeapBytes for RuleEntry {
    fn heap_bytes(&self) -> usize {
        self.rules.heap_bytes()
    }
}
