//! TLS settings. Connections trust the certificate authorities of the machine.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::Error;

/// The certificate authorities of the system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR`. Without any, every TLS
/// connection fails.
pub fn load_system_authorities() -> Vec<CertificateDer<'static>> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "certificate authorities for the requests of tools cannot be read");
    }
    found.certs
}

/// # Errors
/// When the TLS library supports none of the protocol versions.
pub fn build_client(authorities: Vec<CertificateDer<'static>>) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities);
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| Error::internal(error.to_string()))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
