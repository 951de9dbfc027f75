//! The models of organisations that a server has in memory.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::account::OrganizationId;
use crate::embeddings::CorpusModel;
use crate::memory_search::SizedCache;

/// Bytes of the models of all organisations, of up to 23 MB each.
const MODELS_BYTES_MAX: usize = 128 << 20;

/// Bytes of a model that knows no word.
const MODEL_BYTES: usize = 256;

/// The models of organisations.
pub(super) struct CorpusModels {
    models: SizedCache<OrganizationId, (i64, Arc<CorpusModel>)>,
    /// Held while a model learns, so that one does at a time.
    pub learning: Mutex<()>,
}

impl Default for CorpusModels {
    fn default() -> Self {
        Self { models: SizedCache::new(MODELS_BYTES_MAX), learning: Mutex::default() }
    }
}

impl CorpusModels {
    pub fn of(&self, organization: &OrganizationId, generation: i64) -> Option<Arc<CorpusModel>> {
        self.models.get(organization).filter(|(known, _)| *known == generation).map(|(_, model)| model)
    }

    /// Keeps a model in place of an older one.
    pub fn insert(&self, organization: OrganizationId, generation: i64, model: Arc<CorpusModel>) {
        let bytes = MODEL_BYTES + model.bytes();
        self.models.insert(organization, (generation, model), bytes);
    }
}
