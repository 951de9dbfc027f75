//! Verification, provenance and signing keys of versions.

use api::wire::{SigningKeys, Verification};
use reqwest::Method;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};
use super::stream::Event;

impl Client {
    /// Rebuilds a version on the server and compares.
    pub async fn verify_version(
        &self,
        tool_id: &str,
        version: &str,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<Verification>> {
        let path = ["tool", tool_id, "version", version, "verify"];
        let call = Call::new(Method::POST, &path);
        self.stream(call).await?.follow(show).await
    }

    /// Returns the provenance or the bill of materials of a version, byte for byte.
    pub async fn get_attestation(&self, tool_id: &str, version: &str, document: &str) -> anyhow::Result<String> {
        self.get_text(Call::new(Method::GET, &["tool", tool_id, "version", version, document])).await
    }

    pub async fn get_signing_keys(&self) -> anyhow::Result<DecodedResponse<SigningKeys>> {
        self.get(Call::new(Method::GET, &["keys"])).await
    }
}
