//! Semantic versions of tools, and how a publication raises them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kit::invalid_value::InvalidValue;

/// Maximum of each part of a version. Parts are stored in signed 64-bit columns.
const PART_MAX: u64 = i64::MAX as u64;

// Orders by precedence; displays as `major.minor.patch`.
/// The version of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
}

/// The part of the version that a publication raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BumpKind {
    Major,
    Minor,
    Patch,
}

impl BumpKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
            Self::Patch => "patch",
        }
    }
}

impl Version {
    /// The version of every tool's first publication, whatever the bump.
    pub const FIRST: Self = Self::new(1, 0, 0);

    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch }
    }

    /// Accepts exactly `major.minor.patch` in decimal digits, without signs or leading zeros.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let invalid = InvalidValue::new("version", "must be major.minor.patch");
        let parts: Vec<u64> = text.split('.').map(parse_part).collect::<Option<_>>().ok_or(invalid.clone())?;
        let [major, minor, patch] = parts[..] else {
            return Err(invalid);
        };
        Ok(Self { major, minor, patch })
    }

    /// Raises one part and sets the lower ones to zero.
    #[must_use]
    pub const fn bump(self, kind: BumpKind) -> Self {
        match kind {
            BumpKind::Major => Self::new(self.major.saturating_add(1), 0, 0),
            BumpKind::Minor => Self::new(self.major, self.minor.saturating_add(1), 0),
            BumpKind::Patch => Self::new(self.major, self.minor, self.patch.saturating_add(1)),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

fn parse_part(text: &str) -> Option<u64> {
    let digits_only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits_only && (text == "0" || !text.starts_with('0'));
    let number = text.parse().ok().filter(|number| *number <= PART_MAX);
    number.filter(|_| plain)
}
