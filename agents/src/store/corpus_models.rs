//! The models of organisations that a server has in memory.

use std::sync::Arc;

use registry::{ByteCache, CacheBound, HeapBytes, OrganizationId};
use tokio::sync::Mutex;

use crate::embeddings::CorpusModel;

/// Models of all organisations, of up to 23 MB each.
pub const CORPUS_MODELS: CacheBound = CacheBound { name: "models of organisations", bytes_max: 128 << 20 };

/// The models of organisations.
pub(super) struct CorpusModels {
    models: ByteCache<OrganizationId, (i64, Arc<CorpusModel>)>,
    /// Held while a model learns, so that one does at a time.
    pub learning: Mutex<()>,
}

impl Default for CorpusModels {
    fn default() -> Self {
        Self { models: ByteCache::new(CORPUS_MODELS), learning: Mutex::default() }
    }
}

impl CorpusModels {
    pub fn of(&self, organization: &OrganizationId, generation: i64) -> Option<Arc<CorpusModel>> {
        self.models.get(organization).filter(|(known, _)| *known == generation).map(|(_, model)| model)
    }

    /// Keeps a model in place of an older one.
    pub fn insert(&self, organization: OrganizationId, generation: i64, model: Arc<CorpusModel>) {
        self.models.insert(organization, (generation, model));
    }
}

impl HeapBytes for CorpusModel {
    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}
