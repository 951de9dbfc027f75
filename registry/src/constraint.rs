//! Version constraints in the notation of PEP 440: `>=1.2,<2`, `~=1.4`, `==1.*`, or a bare `1.2.0`.

use std::fmt;
use std::str::FromStr;

use pep440_rs::VersionSpecifiers;

use crate::error::InvalidValue;
use crate::version::Version;

/// Bytes of a constraint; longer ones are attacks on the parser.
const CONSTRAINT_BYTES_MAX: usize = 256;
/// Clauses between commas; each costs a comparison per version.
const CLAUSES_MAX: usize = 16;

/// Which versions are meant. Empty means any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint(VersionSpecifiers);

impl Constraint {
    /// Matches every version.
    pub fn any() -> Self {
        Self(VersionSpecifiers::empty())
    }

    /// Matches exactly this version.
    pub fn exactly(version: Version) -> Self {
        let release = pep440_rs::Version::new([version.major, version.minor, version.patch]);
        Self(VersionSpecifiers::from(pep440_rs::VersionSpecifier::equals_version(release)))
    }

    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let text = text.trim();
        if text.len() > CONSTRAINT_BYTES_MAX || text.split(',').count() > CLAUSES_MAX {
            return Err(InvalidValue::new("version constraint", "must have at most 256 bytes and 16 clauses"));
        }
        let written_out = if is_bare(text) { format!("=={text}") } else { text.to_owned() };
        let parsed = VersionSpecifiers::from_str(&written_out);
        parsed
            .map(Self)
            .map_err(|_| InvalidValue::new("version constraint", "must be a PEP 440 constraint such as >=1.2,<2"))
    }

    pub fn matches(&self, version: &Version) -> bool {
        self.0.contains(&pep440_rs::Version::new([version.major, version.minor, version.patch]))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Constraint {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

fn is_bare(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(',')
}
