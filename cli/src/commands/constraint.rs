//! Version constraints on the command line: PEP 440, which the server reads, and the notations of other package managers.

use std::fmt;
use std::str::FromStr;

/// A constraint in the notation of PEP 440.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint(String);

impl Constraint {
    /// The constraint that every version matches.
    pub fn any() -> Self {
        Self(">=0".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Constraint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let constraint = registry::to_pep440(text)?;
        match registry::Constraint::parse(&constraint) {
            Ok(_) => Ok(Self(constraint)),
            Err(error) => Err(format!("{error}, or 1, 1.2, ^1.2, ~1.2 or 1.x; leave it out for the newest version")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_notations_are_translated_and_nonsense_is_refused() {
        let read = |text: &str| text.parse::<Constraint>().map(|constraint| constraint.to_string());
        assert_eq!(read("^1.2"), Ok(">=1.2,<2".to_owned()));
        assert_eq!(read("~=1.2"), Ok("~=1.2".to_owned()));
        assert!(read("latest").is_err_and(|error| error.contains("leave it out for the newest version")));
    }
}
