//! Secrets of responses.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text that no message and no log may show.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct SecretText(String);

impl SecretText {
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}
