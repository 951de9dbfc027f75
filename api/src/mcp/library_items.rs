//! The items of a family of the Library that the user of a request sees, as a list of the protocol.

use registry::{
    Digest, Library, LibraryFamily, LibraryFilter, LibraryItem, LibraryItemId, LibraryRange, Provenance, Store,
};
use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::scope::Viewpoint;

/// Items of a list, the newest. Clients read older ones by their names or ids.
const ITEMS_MAX: u32 = 10_000;

/// A family of the Library as the user of a request sees it.
pub(super) struct LibraryItems {
    library: Library,
    family: LibraryFamily,
    /// The agent, the user and the application, which a cursor is bound to.
    viewer: String,
}

impl LibraryItems {
    pub fn of(store: &Store, viewpoint: &Viewpoint, family: LibraryFamily) -> Self {
        let of = viewpoint.library.clone();
        let viewer = json!([viewpoint.agent, of.user, of.app, family]).to_string();
        // Only what is written has a provenance.
        let library = store.library(of, Provenance::default());
        Self { library, family, viewer }
    }

    /// Returns a digest that changes with every item, for watching the list. Cursors have another one.
    pub async fn digest(&self) -> Result<Digest, registry::Error> {
        let fingerprint = self.library.fingerprint(self.family).await?;
        Ok(Digest::of(fingerprint.as_bytes()))
    }

    /// Returns the ids, newest first.
    pub async fn ids(&self) -> Result<Vec<LibraryItemId>, ErrorData> {
        Ok(self.revisions().await?.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns the ids with the numbers of their changes, newest first.
    pub async fn revisions(&self) -> Result<Vec<(LibraryItemId, u64)>, ErrorData> {
        self.library.revisions(self.family, ITEMS_MAX).await.map_err(failed)
    }

    /// Returns `count` items from the one at `start`, newest first.
    pub async fn range(&self, start: usize, count: usize) -> Result<Vec<LibraryItem>, ErrorData> {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let range = LibraryRange { limit: number(count), offset: number(start) };
        self.library.list(self.family, &LibraryFilter::default(), range).await.map_err(failed)
    }

    /// Returns an item; `None` for one that the user does not see.
    pub async fn item(&self, id: &LibraryItemId) -> Result<Option<LibraryItem>, ErrorData> {
        self.library.get(self.family, id).await.map_err(failed)
    }

    /// Returns the revision of an item and its key; `None` for one that the user does not see.
    pub async fn revision(&self, id: &LibraryItemId) -> Result<Option<(u64, String)>, ErrorData> {
        self.library.revision_and_key(self.family, id).await.map_err(failed)
    }

    /// Returns the revision of an artifact that the user can read, also of one that the whole organisation reads.
    pub async fn artifact_revision(&self, id: &LibraryItemId) -> Result<Option<u64>, ErrorData> {
        match self.revision(id).await? {
            Some((revision, _)) => Ok(Some(revision)),
            None => self.library.artifact_revision_of_organization(id).await.map_err(failed),
        }
    }

    /// Finds the item with a name.
    pub async fn named(&self, name: &str) -> Result<Option<LibraryItem>, ErrorData> {
        self.library.find(self.family, name).await.map_err(failed)
    }

    /// Returns a digest of a list with these items, after others with a digest of their own.
    pub fn digest_of(&self, revisions: &[(LibraryItemId, u64)], others: &Digest) -> Digest {
        let lines = revisions.iter().map(|(id, revision)| format!("{id} {revision}"));
        let head = [self.viewer.clone(), others.to_hex()];
        let text = head.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
        Digest::of(text.as_bytes())
    }
}

/// Reads the fields of an item.
pub(super) fn fields<T: DeserializeOwned>(item: Value) -> Result<T, ErrorData> {
    serde_json::from_value(item).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    tracing::error!(%error, "the library cannot be read for an MCP client");
    ErrorData::internal_error("The server failed.", None)
}
