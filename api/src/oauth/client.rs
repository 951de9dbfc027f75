//! Clients: those that have a document at their id, and those that registered themselves.

use registry::is_registered_client_id;
use url::Url;

use super::document::{ClientMetadata, document_url};
use super::error::OauthError;
use super::redirect::RedirectUri;
use super::refused::AuthorizationRefused;
use super::server::OauthServer;

/// A client that asks for access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Client {
    pub id: String,
    /// The name that the client gives itself.
    pub name: Option<String>,
    /// The host that vouches for the client; `None` for a client that registered itself.
    pub host: Option<String>,
    redirect_uris: Vec<String>,
}

impl Client {
    pub(super) async fn find(server: &OauthServer, id: &str) -> Result<Self, AuthorizationRefused> {
        if let Some(url) = document_url(id) {
            return Ok(Self::of_document(server, id, &url).await?);
        }
        let known = match is_registered_client_id(id) {
            true => server.store.registered_client(id).await?,
            false => None,
        };
        let Some(known) = known else {
            let text = "the client is not known: its `client_id` is neither the URL of a client metadata document, nor \
                that of a registered client";
            return Err(OauthError::new("invalid_client", text).into());
        };
        let name = Some(known.name).filter(|name| !name.is_empty());
        Ok(Self { id: known.client_id, name, host: None, redirect_uris: known.redirect_uris })
    }

    async fn of_document(server: &OauthServer, id: &str, url: &Url) -> Result<Self, OauthError> {
        let read = server.documents.read(id).await;
        let metadata = read.and_then(|bytes| ClientMetadata::of_document(&bytes, id));
        let refused =
            |reason| OauthError::new("invalid_client", format!("the document of the client is refused: {reason}"));
        let metadata = metadata.map_err(refused)?;
        let host = url.host_str().map(str::to_owned);
        Ok(Self { id: id.to_owned(), name: metadata.name(), host, redirect_uris: metadata.redirect_uris })
    }

    /// Returns the redirect URI of a request, if it is one of the client's.
    pub(super) fn redirect_uri(&self, asked: &str) -> Option<RedirectUri> {
        let uri = RedirectUri::parse(asked)?;
        self.redirect_uris.iter().any(|registered| uri.is_permitted_by(registered)).then_some(uri)
    }

    pub(super) const fn is_registered(&self) -> bool {
        self.host.is_none()
    }
}
