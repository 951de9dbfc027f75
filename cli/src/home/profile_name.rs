//! The names of profiles. A name becomes a part of a path.

use std::fmt;
use std::str::FromStr;

/// Characters of a name. People type them.
const CHARACTERS_MAX: usize = 64;

/// The name of a login: letters, digits and . _ -, not starting with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileName(String);

impl ProfileName {
    /// The profile of logins that name none.
    pub const DEFAULT: &'static str = "default";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_default(&self) -> bool {
        self.0 == Self::DEFAULT
    }
}

impl Default for ProfileName {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl FromStr for ProfileName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        let is_name = (1..=CHARACTERS_MAX).contains(&text.len()) && text.chars().all(is_part) && !text.starts_with('.');
        is_name
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| "a profile is 1 to 64 letters, digits and . _ -, and does not start with a dot".to_owned())
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        for text in ["default", "acme-staging", "a.b_c", "9"] {
            assert_eq!(text.parse::<ProfileName>().expect("a name").as_str(), text);
        }
        for text in ["", ".", "..", ".hidden", "a/b", "a b", "é", &"x".repeat(65)] {
            assert!(text.parse::<ProfileName>().is_err(), "{text:?}");
        }
    }
}
