//! Version constraints on the command line. Beside PEP 440, which the server reads, there are the notations that people
//! know from other package managers.
//!
//! | written | means | PEP 440 |
//! |---|---|---|
//! | `1` | 1.x | `==1.*` |
//! | `1.2`, `1.2.x`, `1.2.*` | 1.2.x | `==1.2.*` |
//! | `1.2.3` | this version | `1.2.3` |
//! | `^1.2` | from 1.2 on, before 2 | `>=1.2,<2` |
//! | `~1.2` | from 1.2 on, before 1.3 | `>=1.2,<1.3` |
//! | `x`, `*` | all versions | `>=0` |

use std::fmt;
use std::str::FromStr;

/// Numbers of a version: major, minor, patch.
const NUMBERS_MAX: usize = 3;

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

    /// Translates each part between commas. The server checks what PEP 440 allows.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Result<Vec<String>, String> = text.split(',').map(|part| translated(part.trim())).collect();
        Ok(Self(parts?.join(",")))
    }
}

fn translated(part: &str) -> Result<String, String> {
    let malformed =
        || format!("`{part}` is no constraint; write 1, 1.2, 1.2.3, ^1.2, ~1.2, 1.x, or PEP 440 such as '>=1.2,<2'");
    if let Some(version) = part.strip_prefix('^') {
        let numbers = numbers(version.trim()).ok_or_else(malformed)?;
        return Ok(range(&numbers, first_that_counts(&numbers)));
    }
    if let Some(version) = part.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
        let numbers = numbers(version.trim()).ok_or_else(malformed)?;
        return Ok(range(&numbers, 1.min(numbers.len() - 1)));
    }
    match prefix(part) {
        Some(numbers) if numbers.is_empty() => Ok(Constraint::any().0),
        Some(numbers) => Ok(format!("=={}.*", dotted(&numbers))),
        None if part.is_empty() => Err(malformed()),
        None => Ok(part.to_owned()),
    }
}

/// The numbers that `1`, `1.2`, `1.x` and `1.2.*` begin with. `None` for a whole version and for PEP 440.
fn prefix(part: &str) -> Option<Vec<u64>> {
    let mut words: Vec<&str> = part.strip_prefix(['v', 'V']).unwrap_or(part).split('.').collect();
    let written = words.len();
    while words.last().is_some_and(|word| matches!(*word, "x" | "X" | "*")) {
        words.pop();
    }
    let has_wildcard = words.len() < written;
    let numbers: Vec<u64> = words.iter().map(|word| number(word)).collect::<Option<_>>()?;
    (numbers.len() < NUMBERS_MAX && (has_wildcard || !numbers.is_empty())).then_some(numbers)
}

/// Parses one to three numbers with dots between them, such as `1.2`.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let numbers: Vec<u64> = text.split('.').map(number).collect::<Option<_>>()?;
    (numbers.len() <= NUMBERS_MAX).then_some(numbers)
}

fn number(word: &str) -> Option<u64> {
    // `parse` would accept a sign.
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// The position of the number whose increase may break callers: the first that is not zero.
fn first_that_counts(numbers: &[u64]) -> usize {
    numbers.iter().position(|number| *number > 0).unwrap_or(numbers.len() - 1)
}

/// The versions from `numbers` on, before the next one at `position`.
fn range(numbers: &[u64], position: usize) -> String {
    let mut end = numbers[..=position].to_vec();
    end[position] = end[position].saturating_add(1);
    format!(">={},<{}", dotted(numbers), dotted(&end))
}

fn dotted(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_of_other_package_managers_are_translated() {
        for (text, expected) in [
            ("1", "==1.*"),
            ("v1", "==1.*"),
            ("1.2", "==1.2.*"),
            ("1.x", "==1.*"),
            ("1.X.x", "==1.*"),
            ("1.2.*", "==1.2.*"),
            ("*", ">=0"),
            ("1.2.3", "1.2.3"),
            ("^1", ">=1,<2"),
            ("^1.2", ">=1.2,<2"),
            ("^1.2.3", ">=1.2.3,<2"),
            ("^0.2.3", ">=0.2.3,<0.3"),
            ("^0.0", ">=0.0,<0.1"),
            ("~1", ">=1,<2"),
            ("~1.2", ">=1.2,<1.3"),
            ("~ 1.2.3", ">=1.2.3,<1.3"),
            ("^1.2, !=1.2.5", ">=1.2,<2,!=1.2.5"),
        ] {
            assert_eq!(text.parse::<Constraint>().expect(text).as_str(), expected, "{text}");
        }
    }

    #[test]
    fn pep_440_stays_as_it_is() {
        for text in [">=1.2,<2", "~=1.2", "==1.*", "===1.2.0", "!=1", "1.2.3", "<2", "anything"] {
            assert_eq!(text.parse::<Constraint>().expect(text).as_str(), text);
        }
    }

    #[test]
    fn a_notation_that_means_nothing_is_refused() {
        for text in ["^", "^x", "~1.2.3.4", "^-1", "^1..2", "", "1,", "^99999999999999999999"] {
            assert!(text.parse::<Constraint>().is_err(), "{text:?}");
        }
    }
}
