//! The parameters of OAuth requests, for the document. A request with wrong ones gets an error of OAuth or a page, and no list of
//! problems.

use api_kit::openapi::{Parameter, schemas};
use serde_json::{Value, json};

/// The parameters of a request for an authorisation.
pub(super) const AUTHORIZATION: [(&str, &str); 8] = [
    ("response_type", "`code`."),
    ("client_id", "The URL of the client's metadata document, or the id of a registered client."),
    ("redirect_uri", "The URI that the code is sent to, one of the client's."),
    ("state", "Sent back to the client."),
    ("code_challenge", "The SHA-256 of the client's verifier, in base64 (RFC 7636)."),
    ("code_challenge_method", "`S256`."),
    ("scope", "`mcp`, or nothing."),
    ("resource", "The URL of the MCP endpoint (RFC 8707)."),
];

pub(super) fn list_authorization_parameters() -> impl Iterator<Item = Parameter> {
    AUTHORIZATION.into_iter().map(|(name, text)| Parameter::query(name, text, schemas::text()))
}

/// The schema of a form with these fields, all of them optional texts.
pub(super) fn build_form_schema(fields: &[(&str, &str)]) -> Value {
    let property = |(name, text): &(&str, &str)| ((*name).to_owned(), json!({"type": "string", "description": text}));
    json!({"type": "object", "properties": fields.iter().map(property).collect::<serde_json::Map<_, _>>()})
}
