//! The indices of the scopes that were searched last.

use std::sync::Arc;

use parking_lot::RwLock;
use registry::{ByteCache, CacheBound, HeapBytes};

use super::scope_index::ScopeIndex;
use crate::domain::library::LibraryScope;

/// All indices: those of 400,000 memories of some sentences. Memories of a scope whose index is not there are read again.
pub(crate) const MEMORY_INDICES: CacheBound = CacheBound { name: "indices of memories", bytes_max: 512 << 20 };

/// The index of a scope, and the permit to read its changes.
#[derive(Default)]
pub(crate) struct SharedIndex {
    pub index: RwLock<ScopeIndex>,
    /// Held while changes are read, so that no two searches read the same ones.
    pub reading: tokio::sync::Mutex<()>,
}

pub(crate) struct IndexCache(ByteCache<LibraryScope, Arc<SharedIndex>>);

impl Default for IndexCache {
    fn default() -> Self {
        Self(ByteCache::new(MEMORY_INDICES))
    }
}

impl IndexCache {
    /// Returns the index of a scope, which may be empty.
    pub fn of(&self, scope: &LibraryScope) -> Arc<SharedIndex> {
        self.0.get(scope).unwrap_or_else(|| {
            let index = Arc::<SharedIndex>::default();
            self.0.insert(scope.clone(), index.clone());
            index
        })
    }

    /// Notes the size of an index that has changed. One that is worn is made again by the next search.
    pub fn note(&self, scope: &LibraryScope, shared: &Arc<SharedIndex>) {
        let is_worn = shared.index.read().is_worn();
        match is_worn {
            true => self.0.remove(scope),
            false => self.0.insert(scope.clone(), shared.clone()),
        }
    }
}

/// The bytes at the time of the insertion.
impl HeapBytes for SharedIndex {
    fn heap_bytes(&self) -> usize {
        self.index.read().bytes()
    }
}
