//! Links to artifacts, the artifacts that they lead to, and artifacts that the whole organisation reads.

use registry::statements::{Query, read_unsigned};
use registry::{Error, LibraryItemId, OrganizationId, Result};
use serde_json::Value;

use super::item::{Library, read};
use crate::domain::library::{Download, DownloadToken, LIFETIME, LibraryItem};
use crate::error;
use crate::store::AgentStore;

const ARTIFACT: &str = "SELECT * FROM library_items
    WHERE organization = $1 AND item = $2 AND family = 'artifacts' AND deleted_at IS NULL";

/// The condition on the fields is that of [`is_open`]: one database has 1 for true, and the other one has a text.
const OPEN_REVISION: &str = "SELECT revision FROM library_items
    WHERE organization = $1 AND item = $2 AND family = 'artifacts' AND deleted_at IS NULL
        AND (CAST({field body shared_to_org} AS TEXT) IN ('1', 'true') OR CAST({field body is_public} AS TEXT) IN ('1', 'true'))";

/// The purpose of the key that signs links.
const PURPOSE: &str = "downloads of artifacts";

/// The fields of an artifact that the whole organisation reads, and of one whose links work as long as its owner is a member.
const SHARED_TO_ORG: &str = "shared_to_org";
const IS_PUBLIC: &str = "is_public";

impl Library {
    /// Returns the token of a link to an artifact that the caller has read.
    pub fn sign_download(&self, item: &LibraryItemId) -> Result<DownloadToken> {
        let organization = self.scope.organization.clone();
        let download = Download { organization, item: item.clone(), expires_at: self.now().after(LIFETIME) };
        let token = download.sign(&self.store.registry().derive_key(PURPOSE));
        token.ok_or_else(|| Error::Corrupt { what: "download", detail: "a link cannot be signed".into() })
    }

    /// Finds an artifact that its owner shares with the whole organisation.
    pub async fn artifact_of_organization(&self, item: &LibraryItemId) -> Result<Option<LibraryItem>> {
        let found = self.store.read_artifact(&self.scope.organization, item).await?;
        Ok(found.filter(is_open))
    }

    /// Returns the revision of an artifact that its owner shares with the whole organisation, without its content.
    pub async fn artifact_revision_of_organization(&self, item: &LibraryItemId) -> Result<Option<u64>> {
        let query = Query::new(OPEN_REVISION).bind(self.scope.organization.as_str()).bind(item.as_str());
        let row = query.fetch_optional(self.store.readers()).await?;
        row.map(|row| read_unsigned(&row, "revision")).transpose()
    }
}

impl AgentStore {
    /// Returns the artifact that a link leads to. `None` for a link that the installation has not signed, and for an artifact that was
    /// deleted. [`error::Error::DownloadExpired`] for a link whose time has passed, unless its artifact is public and has an owner who is
    /// still in the organisation.
    pub async fn downloaded(&self, token: &DownloadToken) -> Result<Option<LibraryItem>, error::Error> {
        let Some(download) = Download::read(token, &self.registry().derive_key(PURPOSE)) else { return Ok(None) };
        let Download { organization, item, expires_at } = download;
        let artifact = self.read_artifact(&organization, &item).await?;
        if expires_at <= self.clock().now() && !self.is_published(&organization, artifact.as_ref()).await? {
            return Err(error::Error::DownloadExpired);
        }
        Ok(artifact)
    }

    /// Whether links to an artifact work without an end: it is public, and its owner, who can delete it, is still there.
    async fn is_published(&self, organization: &OrganizationId, artifact: Option<&LibraryItem>) -> Result<bool> {
        match artifact.filter(|artifact| is_set(artifact, IS_PUBLIC)) {
            Some(public) => self.registry().access().is_member(organization, &public.owner).await,
            None => Ok(false),
        }
    }

    async fn read_artifact(&self, organization: &OrganizationId, item: &LibraryItemId) -> Result<Option<LibraryItem>> {
        let query = Query::new(ARTIFACT).bind(organization.as_str()).bind(item.as_str());
        query.fetch_optional(self.readers()).await?.as_ref().map(read).transpose()
    }
}

/// Whether the whole organisation reads an artifact.
fn is_open(artifact: &LibraryItem) -> bool {
    is_set(artifact, SHARED_TO_ORG) || is_set(artifact, IS_PUBLIC)
}

fn is_set(artifact: &LibraryItem, field: &str) -> bool {
    artifact.body.get(field) == Some(&Value::Bool(true))
}
