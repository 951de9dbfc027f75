//! Registration of clients by themselves (RFC 7591). All are public clients, whatever they ask for.

use std::net::IpAddr;

use api_kit::error::Error;
use api_kit::server::find_client;
use registry::{RegisteredClient, Store};

use super::document::ClientMetadata;
use super::error::OauthError;

/// Bytes of a registration.
const BYTES_MAX: usize = 8 << 10;

/// Why a client is not registered.
#[derive(Debug)]
pub enum RegistrationRefused {
    Invalid(OauthError),
    Failed(Error),
}

/// Registers the client that a document describes.
pub async fn register(
    store: &Store,
    document: &[u8],
    address: Option<IpAddr>,
) -> Result<RegisteredClient, RegistrationRefused> {
    let refused = |text: String| RegistrationRefused::Invalid(OauthError::new("invalid_client_metadata", text));
    if document.len() > BYTES_MAX {
        return Err(refused(format!("the document has more than {BYTES_MAX} bytes")));
    }
    let metadata = ClientMetadata::parse(document).map_err(refused)?;
    metadata.check().map_err(refused)?;
    let name = metadata.name().unwrap_or_default();
    let address = address.map(|address| find_client(address).to_string()).unwrap_or_default();
    let registered = store.access().register_client(name, metadata.redirect_uris, address).await;
    registered.map_err(|error| RegistrationRefused::Failed(error.into()))
}
