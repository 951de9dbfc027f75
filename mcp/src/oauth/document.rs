//! Client ID Metadata Documents: the id of a client is the HTTPS URL of the document that describes it.

use registry::parse_json;
use serde::Deserialize;
use url::Url;

use super::redirect::RedirectUri;
use super::text;

/// Bytes of the id of a client. Known ones have less than 100.
pub(super) const CLIENT_ID_BYTES_MAX: usize = 512;
/// Redirect URIs of one client.
pub(super) const REDIRECT_URIS_MAX: usize = 32;

/// A description of a client, as a document or a registration has it. Other members are ignored.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClientMetadata {
    #[serde(default)]
    pub client_id: Option<String>,
    #[serde(default)]
    pub client_name: Option<String>,
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    #[serde(default)]
    pub token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    pub grant_types: Option<Vec<String>>,
    #[serde(default)]
    pub response_types: Option<Vec<String>>,
}

impl ClientMetadata {
    /// Parses a description. Its depth is bounded to 128, and no member may be repeated.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let parsed = parse_json(bytes).and_then(serde_json::from_value);
        parsed.map_err(|error| format!("it is not valid: {error}"))
    }

    /// Parses a document with the id that it was fetched for.
    pub(super) fn of_document(bytes: &[u8], client_id: &str) -> Result<Self, String> {
        let metadata = Self::parse(bytes)?;
        if metadata.client_id.as_deref() != Some(client_id) {
            return Err("its `client_id` is not its URL".into());
        }
        let method = metadata.token_endpoint_auth_method.as_deref().unwrap_or("none");
        if method != "none" {
            return Err("its `token_endpoint_auth_method` is not `none`: this server knows public clients only".into());
        }
        metadata.check()?;
        Ok(metadata)
    }

    /// Checks what documents and registrations have in common.
    pub(super) fn check(&self) -> Result<(), String> {
        let has = |values: &Option<Vec<String>>, needed: &str| {
            values.as_ref().is_none_or(|values| values.iter().any(|value| value == needed))
        };
        if !has(&self.grant_types, "authorization_code") || !has(&self.response_types, "code") {
            return Err("it does not use the grant `authorization_code` with the response type `code`".into());
        }
        if self.redirect_uris.is_empty() || self.redirect_uris.len() > REDIRECT_URIS_MAX {
            return Err(format!("it should have 1 to {REDIRECT_URIS_MAX} `redirect_uris`"));
        }
        match self.redirect_uris.iter().find(|uri| RedirectUri::parse(uri).is_none()) {
            Some(_) => {
                Err("one of its `redirect_uris` is neither https, nor http on a loopback address, nor the scheme of an application in \
                    reverse-domain form such as com.example.app:/callback (RFC 8252)"
                    .into())
            }
            None => Ok(()),
        }
    }

    /// The name to show, if the client has one.
    pub(super) fn name(&self) -> Option<String> {
        self.client_name.as_deref().map(text::escape_name).filter(|name| !name.is_empty())
    }
}

/// Parses the id of a client that has a document: an HTTPS URL with a path, in its normal form.
pub(super) fn parse_document_url(client_id: &str) -> Option<Url> {
    let url = Url::parse(client_id).ok().filter(|_| client_id.len() <= CLIENT_ID_BYTES_MAX)?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    let is_normal = url.as_str() == client_id && !has_user && url.fragment().is_none();
    (is_normal && url.scheme() == "https" && url.path() != "/").then_some(url)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "https://app.example.com/client.json";

    fn document(changes: Value) -> Result<ClientMetadata, String> {
        let mut document =
            json!({"client_id": ID, "client_name": "App", "redirect_uris": ["https://app.example.com/cb"]});
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        ClientMetadata::of_document(document.to_string().as_bytes(), ID)
    }

    #[test]
    fn a_document_describes_a_public_client() {
        let accepted = document(json!({
            "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"], "logo_uri": "https://app.example.com/logo.png", "x": {"y": [1]},
        }));
        assert_eq!(accepted.unwrap().name().as_deref(), Some("App"));
        for refused in [
            json!({"client_id": "https://app.example.com/other.json"}),
            json!({"client_id": null}),
            json!({"redirect_uris": []}),
            json!({"redirect_uris": ["javascript://x"]}),
            json!({"redirect_uris": "https://app.example.com/cb"}),
            json!({"redirect_uris": vec!["https://app.example.com/cb"; REDIRECT_URIS_MAX + 1]}),
            json!({"token_endpoint_auth_method": "client_secret_basic"}),
            json!({"grant_types": ["client_credentials"]}),
            json!({"response_types": ["token"]}),
        ] {
            assert!(document(refused.clone()).is_err(), "{refused}");
        }
    }

    #[test]
    fn deep_json_is_refused() {
        let deep = format!(r#"{{"client_id":"{ID}","x":{}{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
        assert!(ClientMetadata::of_document(deep.as_bytes(), ID).unwrap_err().contains("recursion"));
        let twice =
            format!(r#"{{"client_id":"{ID}","client_id":"{ID}","redirect_uris":["https://app.example.com/cb"]}}"#);
        assert!(ClientMetadata::of_document(twice.as_bytes(), ID).is_err());
    }

    #[test]
    fn the_id_of_a_client_is_the_normal_form_of_an_https_url_with_a_path() {
        assert!(parse_document_url(ID).is_some() && parse_document_url("https://localhost:3000/c").is_some());
        for id in [
            "http://app.example.com/client.json",
            "https://app.example.com",
            "https://app.example.com/",
            "https://APP.example.com/client.json",
            "https://app.example.com/a/../client.json",
            "https://app.example.com:443/client.json",
            "https://app.example.com/client.json#x",
            "https://ada:x@app.example.com/client.json",
            "lcl_x",
            &format!("https://app.example.com/{}", "x".repeat(CLIENT_ID_BYTES_MAX)),
        ] {
            assert!(parse_document_url(id).is_none(), "{id}");
        }
    }
}
