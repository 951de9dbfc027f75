//! SHA-256 digests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::byte_cache::HeapBytes;
use super::invalid_value::InvalidValue;
use super::text_type::described_as_text;

const PREFIX: &str = "sha256:";
const TEXT_BYTES: usize = PREFIX.len() + 64;

/// A SHA-256 digest. Displays as `sha256:` and 64 hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl HeapBytes for Digest {
    fn heap_bytes(&self) -> usize {
        0
    }
}

described_as_text!(Digest);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses the format of [`fmt::Display`].
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let invalid = InvalidValue::new("digest", "must be sha256: and 64 lower-case hexadecimal characters");
        let digits = text.strip_prefix(PREFIX).filter(|digits| !digits.bytes().any(|byte| byte.is_ascii_uppercase()));
        let mut bytes = [0; 32];
        let decoded = digits.map(|digits| hex::decode_to_slice(digits, &mut bytes));
        if matches!(decoded, Some(Ok(()))) { Ok(Self(bytes)) } else { Err(invalid) }
    }

    /// Creates a digest that was computed elsewhere.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the 64 hexadecimal characters without the prefix.
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; TEXT_BYTES];
        let (prefix, digits) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        hex::encode_to_slice(self.0, digits).map_err(|_| fmt::Error)?;
        formatter.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Digest {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        Self::parse(&text)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
