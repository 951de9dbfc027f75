//! Searching the memories of a scope. The server has their words and vectors in memory, and reads what has changed since its last
//! search.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use registry::statements::{Row, damaged, get, parse_column, to_json};
use registry::{LibraryItemId, Result, extract_words, off_the_runtime};
use tokio::time::timeout;

use super::index::bind_scope;
use super::item::{Library, read};
use crate::domain::library::{LibraryFamily, MemoryResult, MemoryResults};
use crate::embeddings::{EmbedFailure, Embedder, Vector};
use crate::memory_search::{FoundMemory, IndexChange, IndexedMemory, SharedIndex, Wanted};

/// Different words of a query. Further ones are ignored.
const QUERY_WORDS_MAX: usize = 32;
/// Time for the vector of a query. Without it, the search is by words alone.
const QUERY_VECTOR_TIME_MAX: Duration = Duration::from_secs(2);
/// Changes that one statement reads: some megabytes with their vectors.
const CHANGES_PAGE: u32 = 2_000;

const INDEX_CHANGES: &str = "SELECT item, change, words, importance, updated_at, model, vector FROM library_index
    WHERE organization = $1 AND owner = $2 AND app = $3 AND change > $4 ORDER BY change LIMIT $5";

const FOUND_ITEMS: &str = "SELECT * FROM library_items
    WHERE organization = $1 AND family = $2 AND owner = $3 AND app = $4 AND deleted_at IS NULL
        AND item IN (SELECT value FROM {members $5} wanted)";

impl Library {
    /// Finds memories of the user by words and by meaning.
    pub async fn search_memories(&self, query: &str, limit: u32) -> Result<MemoryResults> {
        let embedder = self.store.choose_embedder(&self.scope.organization).await?;
        let (vector, shared) = tokio::join!(embed_query(&*embedder, query), self.present_index(&embedder));
        let (semantic, vector) = vector.map_or((None, None), |vector| (Some(embedder.kind()), vector));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let wanted =
            Wanted { words: list_distinct_words(query), vector, similarity_min: embedder.similarity_min(), limit };
        let shared = shared?;
        let (found, corrections) = off_the_runtime(move || Ok(shared.index.read().search(&wanted))).await?;
        Ok(MemoryResults { items: self.read_items(found).await?, semantic, corrections })
    }

    /// Returns the index of the scope with all committed changes.
    async fn present_index(&self, embedder: &Arc<dyn Embedder>) -> Result<Arc<SharedIndex>> {
        let memory_indices = &self.store.0.memory_indices;
        let shared = memory_indices.of(&self.scope);
        let _reading = shared.reading.lock().await;
        loop {
            let seen = shared.index.read().seen();
            let query = bind_scope(INDEX_CHANGES, &self.scope).bind(seen).bind(CHANGES_PAGE);
            let rows = self.store.open_listing(&self.scope.organization).await?.rows(query).await?;
            if rows.is_empty() {
                break;
            }
            let is_last = rows.len() < usize::try_from(CHANGES_PAGE).unwrap_or(usize::MAX);
            let (applied, embedder) = (shared.clone(), embedder.clone());
            off_the_runtime(move || {
                let changes = rows.iter().map(|row| parse_change(row, &*embedder)).collect::<Result<_>>()?;
                applied.index.write().apply(changes);
                Ok(())
            })
            .await?;
            if is_last {
                memory_indices.note(&self.scope, &shared);
                break;
            }
        }
        Ok(shared.clone())
    }

    /// Reads the items that were found, but for those that were deleted meanwhile.
    async fn read_items(&self, found: Vec<FoundMemory>) -> Result<Vec<MemoryResult>> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = found.iter().map(|found| found.item.as_str()).collect();
        let query = self.shelf(LibraryFamily::Memory).query(FOUND_ITEMS).bind(to_json(&ids)?);
        let rows = query.fetch_all(self.store.readers()).await?;
        let items = rows.iter().map(|row| read(row).map(|item| (item.id.clone(), item)));
        let mut items: HashMap<LibraryItemId, _> = items.collect::<Result<_>>()?;
        let results = found.into_iter().filter_map(|FoundMemory { item, score, matched }| {
            Some(MemoryResult { item: items.remove(&item)?, score, matched })
        });
        Ok(results.collect())
    }
}

/// The vector of a query. An error, after which the search goes on without it, is only logged.
async fn embed_query(embedder: &dyn Embedder, query: &str) -> Option<Option<Vector>> {
    let late = || EmbedFailure::Unavailable { reason: format!("no answer within {QUERY_VECTOR_TIME_MAX:?}") };
    let embedded = timeout(QUERY_VECTOR_TIME_MAX, embedder.embed(vec![query.to_owned()])).await;
    match embedded.unwrap_or_else(|_| Err(late())) {
        Ok(vectors) => Some(vectors.into_iter().next().flatten()),
        Err(error) => {
            tracing::warn!(%error, model = embedder.model_id(), "a query gets no vector; the search is by words alone");
            None
        }
    }
}

fn list_distinct_words(query: &str) -> Vec<String> {
    let words = extract_words(query);
    let mut seen = BTreeSet::new();
    let distinct = words.split_whitespace().filter(|word| seen.insert(*word));
    distinct.take(QUERY_WORDS_MAX).map(ToOwned::to_owned).collect()
}

fn parse_change(row: &Row, embedder: &dyn Embedder) -> Result<IndexChange> {
    let model: Option<&str> = get(row, "model")?;
    let memory = model.map(|model| parse_memory(row, embedder.reads(model))).transpose()?;
    Ok(IndexChange { item: parse_column(row, "item")?, position: get(row, "change")?, memory })
}

fn parse_memory(row: &Row, has_vector: bool) -> Result<IndexedMemory> {
    let vector: Option<&[u8]> = get(row, "vector")?;
    let vector = vector
        .filter(|_| has_vector)
        .map(|bytes| Vector::from_bytes(bytes).ok_or_else(|| damaged("vector", &"has no direction")));
    Ok(IndexedMemory {
        words: get(row, "words")?,
        importance: get(row, "importance")?,
        updated_at: get(row, "updated_at")?,
        vector: vector.transpose()?,
    })
}
