//! Making the vectors of memories, in the background: of new memories, of changed ones, and of all when the model has changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use registry::statements::{List, Query, Row, get, parse_column, read_json, to_json};
use registry::{AccountId, CallerName, LibraryItemId, OrganizationId, Result};
use serde::Serialize;

use super::index::{build_searched_text, next_changes};
use crate::domain::library::LibraryScope;
use crate::embeddings::{CORPUS_FORMAT, EMBEDDED_BYTES_MAX, EmbedFailure, Embedder, Vector};
use crate::store::AgentStore;

/// Texts of one request to an endpoint, and rows of one transaction.
const BATCH: usize = 128;

/// Changes up to which a model learns from each one: so few memories are learned from and embedded within milliseconds.
const LEARNS_ALWAYS_MAX: i64 = 512;
/// The share of new changes with which a larger model learns again: an eighth. Each memory is embedded some eight times until the
/// number of memories has doubled three times.
const LEARNS_SHARE: i64 = 8;

const DUE: &str = "SELECT organization, changes, learned FROM library_corpora WHERE embedded < changes OR model <> $1";

const LEARN: &str = "UPDATE library_corpora SET learned = $2 WHERE organization = $1 AND learned < $2";

const COMPLETE: &str = "UPDATE library_corpora SET embedded = $2, model = $3 WHERE organization = $1";

/// The rows with vectors of other models.
macro_rules! lacking {
    ($other:literal) => {
        concat!(
            "SELECT x.item, x.owner, x.app, x.change, i.body FROM library_index x CROSS JOIN library_items i
            WHERE x.organization = $1 AND i.organization = x.organization AND i.item = x.item AND x.model ",
            $other,
            " $2 LIMIT $3"
        )
    };
}

pub const LACKING_BEFORE: &str = lacking!("<");
pub const LACKING_AFTER: &str = lacking!(">");

/// Leaves out memories that have changed since they were read.
pub const SET_VECTORS: &str = "UPDATE library_index SET change = made.change, model = $1, vector = made.vector
    FROM {records $2 organization TEXT, item TEXT, seen INTEGER, change INTEGER, vector BYTES} made
    WHERE library_index.organization = made.organization AND library_index.item = made.item
        AND library_index.change = made.seen";

/// An organisation with memories that lack a vector of the present model.
struct DueCorpus {
    organization: OrganizationId,
    changes: i64,
    learned: i64,
}

/// A memory without a vector of the present model.
struct Lacking {
    scope: (String, String),
    item: LibraryItemId,
    change: i64,
    text: String,
}

#[derive(Serialize)]
struct MadeVector<'a> {
    organization: &'a OrganizationId,
    item: &'a LibraryItemId,
    seen: i64,
    change: i64,
    vector: Option<String>,
}

impl AgentStore {
    /// Makes the vectors that are missing. Returns their number. What an embedder refuses to do now is left for the next call.
    pub async fn embed_memories(&self) -> Result<u64> {
        let rows = Query::new(DUE).bind(self.present_model()).fetch_all(self.readers()).await?;
        let mut made = 0;
        for row in &rows {
            let due = DueCorpus {
                organization: parse_column(row, "organization")?,
                changes: get(row, "changes")?,
                learned: get(row, "learned")?,
            };
            made += self.embed_corpus(due).await?;
        }
        Ok(made)
    }

    /// Waits until this server has written a memory. For one task.
    pub async fn memory_written(&self) {
        self.0.memory_written.notified().await;
    }

    /// The model, or what the models of all organisations have in common.
    fn present_model(&self) -> String {
        let configured = self.0.config.embedder.as_ref();
        configured.map_or_else(|| CORPUS_FORMAT.to_owned(), |embedder| embedder.model_id())
    }

    async fn embed_corpus(&self, due: DueCorpus) -> Result<u64> {
        let embedder = self.learn_if_due(&due).await?;
        let DueCorpus { organization, changes, .. } = due;
        let mut made = 0;
        loop {
            let batch = self.list_lacking(&organization, &embedder.model_id()).await?;
            if batch.is_empty() {
                break;
            }
            let Some(vectors) = embed_batch(&*embedder, &batch).await else { return Ok(made) };
            made += self.set_vectors(&organization, &embedder.model_id(), batch, vectors).await?;
        }
        let query = Query::new(COMPLETE).bind(organization.as_str()).bind(changes).bind(self.present_model());
        self.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) })).await?;
        Ok(made)
    }

    /// Returns the embedder of an organisation, after it has learned from enough new memories.
    async fn learn_if_due(&self, due: &DueCorpus) -> Result<Arc<dyn Embedder>> {
        let DueCorpus { organization, changes, learned } = due;
        if self.0.config.embedder.is_none() && learns(*learned, *changes) {
            let query = Query::new(LEARN).bind(organization.as_str()).bind(*changes);
            self.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) })).await?;
        }
        self.choose_embedder(organization).await
    }

    async fn list_lacking(&self, organization: &OrganizationId, model: &str) -> Result<Vec<Lacking>> {
        let mut found = Vec::new();
        for statement in [LACKING_BEFORE, LACKING_AFTER] {
            let left = i64::try_from(BATCH - found.len()).unwrap_or_default();
            let query = Query::new(statement).bind(organization.as_str()).bind(model).bind(left);
            found.extend(query.fetch_all(self.readers()).await?.iter().map(parse_lacking).collect::<Result<Vec<_>>>()?);
        }
        Ok(found)
    }

    /// Stores vectors, a transaction for each scope.
    async fn set_vectors(
        &self,
        organization: &OrganizationId,
        model: &str,
        batch: Vec<Lacking>,
        vectors: Vec<Option<Vector>>,
    ) -> Result<u64> {
        let mut scopes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (Lacking { scope, item, change, .. }, vector) in batch.into_iter().zip(vectors) {
            scopes.entry(scope).or_default().push((item, change, vector));
        }
        let mut made = 0;
        for ((owner, app), memories) in scopes {
            let app = if app.is_empty() { None } else { Some(CallerName::parse(&app)?) };
            let scope = LibraryScope { organization: organization.clone(), account: AccountId::parse(&owner)?, app };
            let model = model.to_owned();
            made += self
                .write(move |connection| {
                    Box::pin(async move {
                        let last = next_changes(&scope, memories.len() as u64, connection).await?;
                        let made = write_vectors(&scope.organization, last, &memories)?;
                        Ok(Query::new(SET_VECTORS).bind(model).bind(made).execute(connection).await?)
                    })
                })
                .await?;
        }
        Ok(made)
    }
}

/// Whether a model learns again.
const fn learns(learned: i64, changes: i64) -> bool {
    let new = changes - learned;
    if learned < LEARNS_ALWAYS_MAX { new > 0 } else { new >= learned / LEARNS_SHARE }
}

/// Returns a vector for each memory. A memory that the embedder refuses gets none. `None` when the embedder does not work.
async fn embed_batch(embedder: &dyn Embedder, batch: &[Lacking]) -> Option<Vec<Option<Vector>>> {
    let texts: Vec<_> = batch.iter().map(|memory| memory.text.clone()).collect();
    let embedded = match embedder.embed(texts).await {
        Err(EmbedFailure::Refused { .. }) if batch.len() > 1 => {
            let mut vectors = Vec::new();
            for memory in batch {
                vectors.extend(Box::pin(embed_batch(embedder, std::slice::from_ref(memory))).await?);
            }
            return Some(vectors);
        }
        embedded => embedded,
    };
    match embedded {
        Ok(vectors) => Some(vectors),
        Err(error @ EmbedFailure::Refused { .. }) => {
            tracing::warn!(%error, model = embedder.model_id(), "a memory gets no vector; it is found by its words");
            Some(vec![None])
        }
        Err(error) => {
            tracing::warn!(%error, model = embedder.model_id(), "memories get no vectors for now; they are found by their words");
            None
        }
    }
}

/// The list that [`SET_VECTORS`] takes. The positions end with `last`.
fn write_vectors(
    organization: &OrganizationId,
    last: i64,
    memories: &[(LibraryItemId, i64, Option<Vector>)],
) -> Result<String> {
    let first = last - i64::try_from(memories.len()).unwrap_or_default() + 1;
    let mut list = List::default();
    for (change, (item, seen, vector)) in (first..).zip(memories) {
        let vector = vector.as_ref().map(|vector| hex::encode(vector.to_bytes()));
        list.push(&to_json(&MadeVector { organization, item, seen: *seen, change, vector })?);
    }
    Ok(list.bound().unwrap_or_else(|| "[]".to_owned()))
}

fn parse_lacking(row: &Row) -> Result<Lacking> {
    let mut text = build_searched_text(&read_json(row, "body")?);
    text.truncate(text.floor_char_boundary(EMBEDDED_BYTES_MAX));
    let scope = (get(row, "owner")?, get(row, "app")?);
    Ok(Lacking { scope, item: parse_column(row, "item")?, change: get(row, "change")?, text })
}

#[cfg(test)]
mod tests {
    use super::learns;

    #[test]
    fn a_model_learns_from_each_change_and_a_large_one_from_an_eighth() {
        assert!(learns(0, 1) && learns(511, 512) && !learns(3, 3));
        assert!(!learns(800, 899) && learns(800, 900));
    }
}
