//! Version constraints in the notation of PEP 440: `>=1.2,<2`, `~=1.4`, `==1.*`, or a bare `1.2.0`.
//!
//! Versions of tools are three numbers. A constraint may still name pre-releases, epochs, post-releases and local versions,
//! and means the same as for Python's installers.

use std::fmt;
use std::str::FromStr;

use pep440_rs::{Operator, VersionSpecifier};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::version::Version;
use crate::kit::byte_cache::{HeapBytes, allocated};
use crate::kit::invalid_value::InvalidValue;
use crate::kit::text_type::{Checked, described_as_text};

/// Clauses between commas; each costs a comparison per version.
const CLAUSES_MAX: usize = 16;
/// Bytes of a version in a clause, with its counters and the parts that few versions have.
const SPECIFIER_BYTES: usize = 320;

/// The versions that a caller accepts. Without clauses, all versions match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint(Vec<Clause>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Clause {
    Specifier(VersionSpecifier),
    /// `===`: the version as text.
    Text(String),
}

described_as_text!(Constraint);

impl Constraint {
    /// Bytes of a constraint. A longer text is refused before it is parsed.
    pub const BYTES_MAX: usize = 256;

    /// Returns the constraint that matches every version.
    pub const fn any() -> Self {
        Self(Vec::new())
    }

    /// Returns the constraint that matches exactly this version.
    pub fn exactly(version: Version) -> Self {
        Self(vec![Clause::Specifier(VersionSpecifier::equals_version(release(version, 0)))])
    }

    /// Whether the constraint has no clauses, and so matches every version.
    pub fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// Parses a constraint. A version without an operator matches that version. Empty clauses are ignored.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let too_long = text.len() > Self::BYTES_MAX;
        let text = text.trim();
        if too_long || text.split(',').count() > CLAUSES_MAX {
            return Err(InvalidValue::new("version constraint", "must have at most 256 bytes and 16 clauses"));
        }
        let written_out = if is_bare(text) { format!("=={text}") } else { text.to_owned() };
        let clauses = written_out.split(',').map(str::trim).filter(|clause| !clause.is_empty());
        let parsed: Option<Vec<Clause>> = clauses.map(Clause::parse).collect();
        let invalid = InvalidValue::new("version constraint", "must be a PEP 440 constraint such as >=1.2,<2");
        parsed.map(Self).ok_or(invalid)
    }

    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|clause| clause.matches(version))
    }
}

impl Clause {
    fn parse(text: &str) -> Option<Self> {
        if let Some(exact) = text.strip_prefix("===") {
            let exact = exact.trim();
            let is_one_word = !exact.is_empty() && !exact.contains(char::is_whitespace);
            return is_one_word.then(|| Self::Text(exact.to_ascii_lowercase()));
        }
        VersionSpecifier::from_str(text).ok().map(Self::Specifier)
    }

    fn matches(&self, version: &Version) -> bool {
        match self {
            Self::Text(text) => *text == version.to_string(),
            Self::Specifier(specifier) => specifier.contains(&release(*version, count_prefix(specifier))),
        }
    }
}

/// Number of parts that a wildcard compares one by one.
fn count_prefix(specifier: &VersionSpecifier) -> usize {
    match specifier.operator() {
        Operator::EqualStar | Operator::NotEqualStar | Operator::TildeEqual => specifier.version().release().len(),
        _ => 0,
    }
}

/// Pads the version with zeros to at least `length` parts: `1.2.0` equals `1.2.0.0`.
fn release(version: Version, length: usize) -> pep440_rs::Version {
    let numbers = [version.major, version.minor, version.patch];
    let zeros = std::iter::repeat_n(0, length.saturating_sub(numbers.len()));
    pep440_rs::Version::new(numbers.into_iter().chain(zeros))
}

impl fmt::Display for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Specifier(specifier) => specifier.fmt(formatter),
            Self::Text(text) => write!(formatter, "==={text}"),
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, clause) in self.0.iter().enumerate() {
            write!(formatter, "{}{clause}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Serialize for Constraint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Constraint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Checked::default())
    }
}

impl FromStr for Constraint {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

/// Whether the text is a version without an operator, such as `1.2.0` or `v1.2.0`.
fn is_bare(text: &str) -> bool {
    let number = text.strip_prefix(['v', 'V']).unwrap_or(text);
    number.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(',')
}

impl HeapBytes for Constraint {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl HeapBytes for Clause {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.heap_bytes(),
            // The version and the list of its numbers.
            Self::Specifier(specifier) => SPECIFIER_BYTES + allocated(size_of_val(specifier.version().release())),
        }
    }
}
