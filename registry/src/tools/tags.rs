//! Tags: up to 20 labels of a tool, each with an optional value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kit::byte_cache::HeapBytes;
use crate::kit::invalid_value::InvalidValue;

/// The tags of a tool: keys with optional values, both trimmed and made of letters, digits, `_` and white space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(BTreeMap<String, Option<String>>);

impl Tags {
    /// Tags of one tool.
    pub const COUNT_MAX: usize = 20;
    /// Bytes of a key or a value.
    pub const TEXT_BYTES_MAX: usize = 256;

    pub fn parse(tags: impl IntoIterator<Item = (String, Option<String>)>) -> Result<Self, InvalidValue> {
        let mut kept = BTreeMap::new();
        for (key, value) in tags {
            kept.insert(parse_tag_text(&key)?, value.as_deref().map(parse_tag_text).transpose()?);
        }
        if kept.len() > Self::COUNT_MAX {
            return Err(InvalidValue::new("tags", "must be at most 20"));
        }
        Ok(Self(kept))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_deref()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl HeapBytes for Tags {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

/// Trims and validates a key or a value.
pub(crate) fn parse_tag_text(text: &str) -> Result<String, InvalidValue> {
    let trimmed = text.trim();
    let allowed = trimmed.chars().all(|c| c.is_alphanumeric() || c == '_' || c.is_whitespace());
    if trimmed.is_empty() || trimmed.len() > Tags::TEXT_BYTES_MAX || !allowed {
        return Err(InvalidValue::new("tag", "must be 1 to 256 bytes of letters, digits, _ and white space"));
    }
    Ok(trimmed.to_owned())
}
