//! JSON that is passed on unparsed.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON text that was validated but not parsed into values, which would take many times the memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    pub(crate) fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}
