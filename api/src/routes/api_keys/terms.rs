//! Name and end of an API key that is to be created.

use std::time::Duration;

use api_kit::extract::{Decoder as _, Fields, Text, WholeNumber};
use api_kit::text_types::TIME;
use registry::{AccountId, ApiKeyName, Clock, NewApiKey, Timestamp};
use serde_json::{Value, json};

/// Maximum of `expires_in`: ten years and some days. The store checks the same bound for both fields.
const EXPIRES_IN_SECONDS_MAX: i64 = 60 * 60 * 24 * 3_660;

const NAME: Text<ApiKeyName> = Text::of_type(|| {
    let bytes_max = ApiKeyName::BYTES_MAX;
    let control = r"\u0000-\u001f\u007f-\u009f";
    json!({
        "type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": format!("^[^{control}]+$"),
        "x-bytes-max": bytes_max, "x-stripped": true,
    })
});

/// Name and end of a new key.
pub(crate) struct KeyTerms {
    name: Option<ApiKeyName>,
    expiry: Expiry,
}

enum Expiry {
    Never,
    In(Duration),
    At(Timestamp),
}

/// An example of a new key, for the OpenAPI document.
pub(crate) fn created_example() -> Value {
    json!({
        "api_key_id": "4bQ0x7ZtKpL2", "api_key": "lk_4bQ0x7ZtKpL2_…", "user_id": "bob",
        "expires_at": "2027-02-18T21:32:05.000Z",
    })
}

/// An example of a page of keys, for the OpenAPI document.
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
    /// Reads the fields `name`, `expires_in` and `expires_at`.
    pub(crate) fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.read_optional("name", NAME.described("A short description of the key's purpose."));
        let expires_in = fields.read_optional(
            "expires_in",
            WholeNumber(1..=EXPIRES_IN_SECONDS_MAX).described("Seconds until the key expires."),
        );
        let expires_at = fields.read_optional("expires_at", TIME.described("The time at which the key expires."));
        fields.require_at_most_one("expires_in", "expires_at");
        let expiry = match (expires_in, expires_at) {
            (Some(seconds), _) => Expiry::In(Duration::from_secs(seconds.unsigned_abs())),
            (None, Some(time)) => Expiry::At(time),
            (None, None) => Expiry::Never,
        };
        Some(Self { name, expiry })
    }

    pub(crate) fn build_key(self, account: AccountId, clock: &Clock) -> NewApiKey {
        let expires_at = match self.expiry {
            Expiry::Never => None,
            Expiry::In(duration) => Some(clock.now().after(duration)),
            Expiry::At(time) => Some(time),
        };
        NewApiKey { account, name: self.name, expires_at }
    }
}
