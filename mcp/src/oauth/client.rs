//! Clients: those that have a document at their id, and those that registered themselves.

use std::net::IpAddr;

use api_kit::error::Error;
use api_kit::server::find_client;
use registry::is_registered_client_id;
use runner::DocumentRefused;
use url::Url;

use super::document::{ClientMetadata, parse_document_url};
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

/// The server that is asked for an authorisation, and the address that asks.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub server: &'a OauthServer,
    pub address: Option<IpAddr>,
}

/// The only text about a document that is not accepted.
const DOCUMENT_TEXT: &str = "the document of the client is refused: its host cannot be reached, or the operator of this server does not \
    permit it, or what it answers is not a client metadata document. It should answer within 5 s with status 200, and with \
    `application/json` of at most 8192 bytes, without a redirect. Its `client_id` should be its URL, its \
    `token_endpoint_auth_method` `none` (this server knows public clients only), and its 1 to 32 `redirect_uris` https, a \
    loopback address, or a scheme in reverse-domain form. A failure is remembered for 30 s; the log of the server has the reason";

fn refuse_document(refused: DocumentRefused) -> AuthorizationRefused {
    match refused {
        DocumentRefused::Unavailable => OauthError::new("invalid_client", DOCUMENT_TEXT).into(),
        DocumentRefused::Busy => {
            let detail = "The server is reading as many documents of OAuth clients as it may; try again shortly.";
            AuthorizationRefused::Failed(Error::Busy { code: "client_documents_busy", detail })
        }
        DocumentRefused::TooManyOfClient { limit } => {
            AuthorizationRefused::Failed(Error::TooManyRequests { owner: "address", limit })
        }
    }
}

impl Client {
    pub(super) async fn find(asked: Asked<'_>, id: &str) -> Result<Self, AuthorizationRefused> {
        if let Some(url) = parse_document_url(id) {
            return Self::of_document(asked, id, &url).await;
        }
        let known = match is_registered_client_id(id) {
            true => asked.server.store.registry().access().registered_client(id).await?,
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

    /// Reads the document of a client, for the user agent with this address. All failures look the same: they would tell which
    /// ports of other hosts are open, and what answers there.
    async fn of_document(asked: Asked<'_>, id: &str, url: &Url) -> Result<Self, AuthorizationRefused> {
        let bytes = asked.server.documents.read(id, asked.address.map(find_client)).await.map_err(refuse_document)?;
        let metadata = ClientMetadata::of_document(&bytes, id).map_err(|reason| {
            tracing::info!(client = id, reason, "the document of a client is refused");
            refuse_document(DocumentRefused::Unavailable)
        })?;
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
