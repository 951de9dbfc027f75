//! The indices of the scopes that were searched last.

use std::sync::Arc;

use parking_lot::RwLock;

use super::scope_index::ScopeIndex;
use super::sized_cache::SizedCache;
use crate::library::LibraryScope;

/// Bytes of all indices: those of 400,000 memories of some sentences. Memories of a scope whose index is not there are read again.
const INDICES_BYTES_MAX: usize = 512 << 20;

/// Bytes of an index that is empty.
const INDEX_BYTES: usize = 512;

/// The index of a scope, and the permit to read its changes.
#[derive(Default)]
pub(crate) struct SharedIndex {
    pub index: RwLock<ScopeIndex>,
    /// Held while changes are read, so that no two searches read the same ones.
    pub reading: tokio::sync::Mutex<()>,
}

pub(crate) struct IndexCache(SizedCache<LibraryScope, Arc<SharedIndex>>);

impl Default for IndexCache {
    fn default() -> Self {
        Self(SizedCache::new(INDICES_BYTES_MAX))
    }
}

impl IndexCache {
    /// Returns the index of a scope, which may be empty.
    pub fn of(&self, scope: &LibraryScope) -> Arc<SharedIndex> {
        self.0.get(scope).unwrap_or_else(|| {
            let index = Arc::<SharedIndex>::default();
            self.0.insert(scope.clone(), index.clone(), INDEX_BYTES);
            index
        })
    }

    /// Notes the size of an index that has changed. One that is worn is made again by the next search.
    pub fn note(&self, scope: &LibraryScope, shared: &Arc<SharedIndex>) {
        let (bytes, is_worn) = {
            let index = shared.index.read();
            (index.bytes(), index.is_worn())
        };
        match is_worn {
            true => self.0.remove(scope),
            false => self.0.insert(scope.clone(), shared.clone(), INDEX_BYTES + bytes),
        }
    }
}
