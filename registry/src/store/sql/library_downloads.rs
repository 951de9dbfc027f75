//! Links to artifacts, and the artifacts that they lead to.

use super::library::{Library, read};
use crate::download::{Download, DownloadToken, LIFETIME};
use crate::error::{Error, Result};
use crate::ids::LibraryItemId;
use crate::library::LibraryItem;
use crate::store::database::Query;
use crate::store::handle::Store;

const LINKED: &str = "SELECT * FROM library_items
    WHERE organization = $1 AND item = $2 AND family = 'artifacts' AND deleted_at IS NULL";

/// The purpose of the key that signs links.
const PURPOSE: &str = "downloads of artifacts";

impl Library {
    /// Returns the token of a link to an artifact that the caller has read.
    pub fn download_of(&self, item: &LibraryItemId) -> Result<DownloadToken> {
        let organization = self.scope.organization.clone();
        let download = Download { organization, item: item.clone(), expires_at: self.now().after(LIFETIME) };
        let token = download.signed(&self.store.0.keys.derive(PURPOSE));
        token.ok_or_else(|| Error::Corrupt { what: "download", detail: "a link cannot be signed".into() })
    }
}

impl Store {
    /// Returns the artifact that a link leads to. `None` for a link that the installation has not signed, and for an artifact that was
    /// deleted. [`Error::DownloadExpired`] for a link whose time has passed.
    pub async fn downloaded(&self, token: &DownloadToken) -> Result<Option<LibraryItem>> {
        let Some(download) = Download::read(token, &self.0.keys.derive(PURPOSE)) else { return Ok(None) };
        let Download { organization, item, expires_at } = download;
        if expires_at <= self.0.clock.now() {
            return Err(Error::DownloadExpired);
        }
        let query = Query::new(LINKED).bind(organization.as_str()).bind(item.as_str());
        query.fetch_optional(self.readers()).await?.as_ref().map(read).transpose()
    }
}
