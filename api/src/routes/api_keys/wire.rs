//! API keys on the wire.

use std::time::Duration;

use registry::{ApiKey, ApiKeyName, Clock, IssuedKey, NewApiKey, Slice, Timestamp, UserId};
use serde::Serialize;

use crate::extract::Node;

/// Ten years and some days; the store's own bound is what counts.
const EXPIRES_IN_SECONDS_MAX: u64 = 60 * 60 * 24 * 3_660;

/// A key without its secret.
#[derive(Serialize)]
struct ApiKeyInstance {
    api_key_id: String,
    prefix: String,
    user_id: String,
    name: Option<String>,
    created_at: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct ApiKeys {
    api_keys: Vec<ApiKeyInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
}

/// A key just made, the only time that it is shown.
#[derive(Serialize)]
pub(crate) struct CreatedApiKey {
    api_key_id: String,
    api_key: String,
    user_id: String,
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

impl KeyTerms {
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
