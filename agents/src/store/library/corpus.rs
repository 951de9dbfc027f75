//! Learning from the memories of an organisation. Each server learns again what it has not in memory.

use std::sync::Arc;

use registry::statements::{Query, get};
use registry::{OrganizationId, Result, off_the_runtime};

use crate::embeddings::{CorpusModel, Embedder, LEARNED_TEXTS_MAX};
use crate::store::AgentStore;

const LEARNED: &str = "SELECT learned FROM library_corpora WHERE organization = $1";

const LEARNED_TEXTS: &str = "SELECT words FROM library_index WHERE organization = $1 AND model IS NOT NULL
    ORDER BY item DESC LIMIT $2";

impl AgentStore {
    /// The embedder for the memories of an organisation: the configured one, or the model that learned from its memories.
    pub(super) async fn choose_embedder(&self, organization: &OrganizationId) -> Result<Arc<dyn Embedder>> {
        if let Some(configured) = &self.0.config.embedder {
            return Ok(configured.clone());
        }
        let row = Query::new(LEARNED).bind(organization.as_str()).fetch_optional(self.readers()).await?;
        let generation = row.map(|row| get(&row, "learned")).transpose()?.unwrap_or_default();
        Ok(self.read_corpus_model(organization, generation).await?)
    }

    /// Returns a model, which learns now unless it is in memory.
    pub(super) async fn read_corpus_model(
        &self,
        organization: &OrganizationId,
        generation: i64,
    ) -> Result<Arc<CorpusModel>> {
        let corpora = &self.0.corpora;
        if let Some(model) = corpora.of(organization, generation) {
            return Ok(model);
        }
        let _learning = corpora.learning.lock().await;
        if let Some(model) = corpora.of(organization, generation) {
            return Ok(model);
        }
        let query = Query::new(LEARNED_TEXTS).bind(organization.as_str()).bind(LEARNED_TEXTS_MAX);
        let rows = self.open_listing(organization).await?.rows(query).await?;
        let learn = move || {
            let texts = rows.iter().map(|row| get(row, "words")).collect::<Result<Vec<String>>>()?;
            Ok(Arc::new(CorpusModel::learn(generation, &texts)))
        };
        let model = off_the_runtime(learn).await?;
        corpora.insert(organization.clone(), generation, model.clone());
        Ok(model)
    }
}
