//! The items of a family of the Library that the user of a request sees, as a list of the protocol.

use agents::{AgentStore, Library, LibraryFamily, LibraryItem, Provenance};
use registry::{Digest, LibraryItemId};
use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::calls::Viewpoint;

/// A family of the Library as the user of a request sees it.
pub struct LibraryItems {
    library: Library,
    family: LibraryFamily,
    /// The agent, the user and the application, which a cursor is bound to.
    viewer: String,
}

impl LibraryItems {
    pub fn of(store: &AgentStore, viewpoint: &Viewpoint, family: LibraryFamily) -> Self {
        let of = viewpoint.library.clone();
        let viewer = json!([viewpoint.agent, of.account.as_str(), of.app, family]).to_string();
        // Only what is written has a provenance.
        let library = store.library(of, Provenance::default());
        Self { library, family, viewer }
    }

    /// Returns a digest that changes with every item, for watching the list. Cursors have another one.
    pub async fn read_digest(&self) -> Result<Digest, registry::Error> {
        let fingerprint = self.library.fingerprint(self.family).await?;
        Ok(Digest::of(fingerprint.as_bytes()))
    }

    /// Returns ids that begin with a text, newest first.
    pub async fn find_ids(&self, prefix: &str, count: usize) -> Result<Vec<LibraryItemId>, ErrorData> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.library.ids_with(self.family, prefix, count).await.map_err(log_failure)
    }

    /// Returns `count` items without their contents, newest first, from the one that follows `after`.
    pub async fn read_page(&self, after: Option<&LibraryItemId>, count: usize) -> Result<Vec<LibraryItem>, ErrorData> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.library.page(self.family, after, count).await.map_err(log_failure)
    }

    /// Returns an item; `None` for one that the user does not see.
    pub async fn read_item(&self, id: &LibraryItemId) -> Result<Option<LibraryItem>, ErrorData> {
        self.library.get(self.family, id).await.map_err(log_failure)
    }

    /// Returns the revision of an item and its key; `None` for one that the user does not see.
    pub async fn find_revision(&self, id: &LibraryItemId) -> Result<Option<(u64, String)>, ErrorData> {
        self.library.revision_and_key(self.family, id).await.map_err(log_failure)
    }

    /// Returns the revision of an artifact that the user can read, also of one that the whole organisation reads.
    pub async fn find_artifact_revision(&self, id: &LibraryItemId) -> Result<Option<u64>, ErrorData> {
        match self.find_revision(id).await? {
            Some((revision, _)) => Ok(Some(revision)),
            None => self.library.artifact_revision_of_organization(id).await.map_err(log_failure),
        }
    }

    /// Finds the item with a name.
    pub async fn find_item(&self, name: &str) -> Result<Option<LibraryItem>, ErrorData> {
        self.library.find(self.family, name).await.map_err(log_failure)
    }

    /// Returns a digest of the list of the items after others, which have a digest of their own. Cursors are bound to it.
    pub async fn read_digest_after(&self, others: &Digest) -> Result<Digest, ErrorData> {
        let items = self.read_digest().await.map_err(log_failure)?;
        Ok(Digest::of([self.viewer.as_str(), &others.to_hex(), &items.to_hex()].join("\n").as_bytes()))
    }
}

/// Reads the fields of an item.
pub fn read_fields<T: DeserializeOwned>(item: Value) -> Result<T, ErrorData> {
    serde_json::from_value(item).map_err(log_failure)
}

fn log_failure(error: impl std::fmt::Display) -> ErrorData {
    tracing::error!(%error, "the library cannot be read for an MCP client");
    ErrorData::internal_error("The server failed.", None)
}
