//! Numbers of the revisions of an agent.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::invalid_value::InvalidValue;

/// The number of a revision. The first is 1, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct RevisionNumber(NonZeroU32);

impl RevisionNumber {
    /// Revisions of one agent. Each may have a prompt of 64 KiB.
    pub const MAX: u32 = 10_000;
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// Returns the number of the next revision; `None` after the last one.
    pub fn next(self) -> Option<Self> {
        Self::try_from(self.get() + 1).ok()
    }
}

impl TryFrom<u32> for RevisionNumber {
    type Error = InvalidValue;

    fn try_from(number: u32) -> Result<Self, InvalidValue> {
        let number = NonZeroU32::new(number).filter(|number| number.get() <= Self::MAX);
        number.map(Self).ok_or(InvalidValue::new("revision number", "must be a whole number from 1 to 10000"))
    }
}

impl From<RevisionNumber> for u32 {
    fn from(number: RevisionNumber) -> Self {
        number.get()
    }
}

impl fmt::Display for RevisionNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for RevisionNumber {
    type Err = InvalidValue;

    /// Reads decimal digits without a sign and without leading zeros.
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        Self::try_from(text.parse().ok().filter(|_| is_plain).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_numbers_are_written_in_one_form() {
        for (text, number) in [("1", Some(1)), ("10000", Some(10_000)), ("10001", None), ("0", None), ("01", None)] {
            assert_eq!(text.parse().ok().map(RevisionNumber::get), number, "{text}");
        }
        assert!(["+1", "", "-1", "1.0"].iter().all(|text| text.parse::<RevisionNumber>().is_err()));
    }
}
