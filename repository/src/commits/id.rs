//! The full id of a commit.

use std::fmt;
use std::str::FromStr;

/// Characters of a commit id, a SHA-1 in hexadecimal. Abbreviations are refused, since they can become ambiguous.
const COMMIT_ID_CHARACTERS: usize = 40;

/// A full commit id, written as 40 lower-case hexadecimal characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(git2::Oid);

/// A text that is not 40 lower-case hexadecimal characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a commit id is {COMMIT_ID_CHARACTERS} lower-case hexadecimal characters")]
pub struct InvalidCommitId;

impl CommitId {
    /// Parses a full id.
    pub fn parse(text: &str) -> Result<Self, InvalidCommitId> {
        let lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != COMMIT_ID_CHARACTERS || !text.bytes().all(lower_hex) {
            return Err(InvalidCommitId);
        }
        text.parse().map(Self).map_err(|_| InvalidCommitId)
    }

    pub(crate) fn oid(self) -> git2::Oid {
        self.0
    }
}

impl From<git2::Oid> for CommitId {
    fn from(oid: git2::Oid) -> Self {
        Self(oid)
    }
}

impl FromStr for CommitId {
    type Err = InvalidCommitId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lower_case_ids_are_accepted() {
        let full = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(CommitId::parse(full).map(|id| id.to_string()), Ok(full.to_owned()));
        for bad in ["", "0123", &full.to_uppercase(), &format!("{full}0"), &full.replace('0', "g")] {
            assert_eq!(CommitId::parse(bad), Err(InvalidCommitId), "{bad}");
        }
    }
}
