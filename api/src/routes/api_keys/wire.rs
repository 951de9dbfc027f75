//! API keys on the wire.

use std::time::Duration;

use registry::{ApiKey, ApiKeyName, Clock, IssuedKey, NewApiKey, Slice, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::extract::Node;
use crate::openapi::form;

/// Ten years and some days; the store's own bound is what counts.
const EXPIRES_IN_SECONDS_MAX: u64 = 60 * 60 * 24 * 3_660;

/// A key without its secret.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ApiKey")]
struct ApiKeyInstance {
    api_key_id: String,
    /// How the key begins.
    prefix: String,
    user_id: String,
    name: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    expires_at: Option<String>,
    /// The hour in which somebody last signed in with it.
    #[schemars(extend("format" = "date-time"))]
    last_used_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    revoked_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ApiKeyList")]
pub(crate) struct ApiKeys {
    api_keys: Vec<ApiKeyInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
}

/// A key just made, the only time that it is shown.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CreatedApiKey {
    api_key_id: String,
    api_key: String,
    user_id: String,
    #[schemars(extend("format" = "date-time"))]
    expires_at: Option<String>,
}

/// What a body says of a key to be made, beside whose it is.
pub(crate) struct KeyTerms {
    name: Option<ApiKeyName>,
    expiry: Expiry,
}

enum Expiry {
    Never,
    In(Duration),
    At(Timestamp),
}

/// What a key just made looks like.
pub(crate) fn created_example() -> Value {
    json!({
        "api_key_id": "4bQ0x7ZtKpL2", "api_key": "lk_4bQ0x7ZtKpL2_…", "user_id": "bob",
        "expires_at": "2027-02-18T21:32:05.000Z",
    })
}

/// What a page of keys looks like.
pub(crate) fn list_example() -> Value {
    json!({
        "api_keys": [{
            "api_key_id": "4bQ0x7ZtKpL2", "prefix": "lk_4bQ0x7ZtKpL2", "user_id": "bob", "name": "laptop",
            "created_at": "2026-11-20T21:32:05.000Z", "expires_at": "2027-02-18T21:32:05.000Z",
            "last_used_at": null, "revoked_at": null,
        }],
        "has_more": false, "continuation_token": null,
    })
}

impl KeyTerms {
    /// The form of a body with these alone.
    pub(crate) fn form() -> Value {
        let most = ApiKeyName::BYTES_MAX;
        let control = r"\u0000-\u001f\u007f-\u009f";
        let name = json!({
            "type": "string", "minLength": 1, "maxLength": most, "pattern": format!("^[^{control}]+$"),
            "x-bytes-max": most, "x-stripped": true, "description": "What the key is for, in a few words.",
        });
        let seconds = json!({
            "type": "integer", "minimum": 1, "maximum": EXPIRES_IN_SECONDS_MAX,
            "description": "Seconds until the key ends by itself.",
        });
        let moment = json!({"type": "string", "format": "date-time", "description": "When the key ends by itself."});
        json!({
            "type": "object",
            "properties": {
                "name": form::or_null(name),
                "expires_in": form::or_null(seconds),
                "expires_at": form::or_null(moment),
            },
            // One way to say when the key ends is enough.
            "not": {
                "required": ["expires_in", "expires_at"],
                "properties": {"expires_in": {"not": {"type": "null"}}, "expires_at": {"not": {"type": "null"}}},
            },
        })
    }

    pub(crate) fn from_body(body: &Node) -> Option<Self> {
        body.object()?;
        let name = body.optional("name").map(|node| node.parsed(ApiKeyName::parse));
        let expires_in = body.optional("expires_in").map(|node| node.whole_number(1..=EXPIRES_IN_SECONDS_MAX));
        let expires_at = body.optional("expires_at").map(|node| (node.parsed(moment), node));
        let expiry = match (expires_in, expires_at) {
            (Some(_), Some((_, node))) => return node.note("value_error", "expires_in is given too; one is enough"),
            (Some(seconds), None) => Expiry::In(Duration::from_secs(seconds?)),
            (None, Some((moment, _))) => Expiry::At(moment?),
            (None, None) => Expiry::Never,
        };
        let name = name.map_or(Some(None), |name| name.map(Some))?;
        Some(Self { name, expiry })
    }

    pub(crate) fn key_for(self, user: UserId, clock: &Clock) -> NewApiKey {
        let expires_at = match self.expiry {
            Expiry::Never => None,
            Expiry::In(duration) => Some(clock.now().after(duration)),
            Expiry::At(moment) => Some(moment),
        };
        NewApiKey { user, name: self.name, expires_at }
    }
}

impl CreatedApiKey {
    pub(crate) fn new(key: IssuedKey, expires_at: Option<Timestamp>) -> Self {
        Self {
            api_key_id: key.api_key_id,
            api_key: key.api_key.expose().to_owned(),
            user_id: key.user.into(),
            expires_at: expires_at.map(|end| end.to_string()),
        }
    }
}

impl From<Slice<ApiKey>> for ApiKeys {
    fn from(Slice { items, next }: Slice<ApiKey>) -> Self {
        let api_keys = items.into_iter().map(ApiKeyInstance::from).collect();
        Self { api_keys, has_more: next.is_some(), continuation_token: next }
    }
}

impl From<ApiKey> for ApiKeyInstance {
    fn from(key: ApiKey) -> Self {
        let text = |moment: Timestamp| moment.to_string();
        Self {
            prefix: key.id.prefix(),
            api_key_id: key.id.into(),
            user_id: key.user.into(),
            name: key.name.map(Into::into),
            created_at: text(key.created_at),
            expires_at: key.expires_at.map(text),
            last_used_at: key.last_used_at.map(text),
            revoked_at: key.revoked_at.map(text),
        }
    }
}

/// RFC 3339 with an offset; a time without one could be any of two dozen.
fn moment(text: &str) -> Result<Timestamp, &'static str> {
    let moment: jiff::Timestamp = text.parse().map_err(|_| "should be a time such as 2030-01-31T12:00:00Z")?;
    Ok(Timestamp::from_milliseconds(moment.as_millisecond()))
}
