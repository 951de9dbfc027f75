//! Notations of version constraints that people know from other package managers, in PEP 440.
//!
//! | written | means | PEP 440 |
//! |---|---|---|
//! | `1` | 1.x | `==1.*` |
//! | `1.2`, `1.2.x`, `1.2.*` | 1.2.x | `==1.2.*` |
//! | `1.2.3` | this version | `1.2.3` |
//! | `^1.2` | from 1.2 on, before 2 | `>=1.2,<2` |
//! | `~1.2` | from 1.2 on, before 1.3 | `>=1.2,<1.3` |
//! | `x`, `*` | all versions | `>=0` |

/// Numbers of a version: major, minor, patch.
const NUMBERS_MAX: usize = 3;
/// The constraint that every version matches.
const ANY: &str = ">=0";

/// Translates each part between commas. What is no other notation stays as it is, whether it is PEP 440 or not.
///
/// # Errors
/// When a part begins like another notation and has no version.
pub fn to_pep440(text: &str) -> Result<String, String> {
    let parts: Result<Vec<String>, String> = text.split(',').map(|part| translate(part.trim())).collect();
    Ok(parts?.join(","))
}

fn translate(part: &str) -> Result<String, String> {
    let malformed =
        || format!("`{part}` is no constraint; write 1, 1.2, 1.2.3, ^1.2, ~1.2, 1.x, or PEP 440 such as '>=1.2,<2'");
    if let Some(version) = part.strip_prefix('^') {
        let numbers = parse_numbers(version.trim()).ok_or_else(malformed)?;
        return Ok(build_range(&numbers, find_first_that_counts(&numbers)));
    }
    if let Some(version) = part.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
        let numbers = parse_numbers(version.trim()).ok_or_else(malformed)?;
        return Ok(build_range(&numbers, 1.min(numbers.len() - 1)));
    }
    match parse_prefix(part) {
        Some(numbers) if numbers.is_empty() => Ok(ANY.to_owned()),
        Some(numbers) => Ok(format!("=={}.*", join_numbers(&numbers))),
        None if part.is_empty() => Err(malformed()),
        None => Ok(part.to_owned()),
    }
}

/// The numbers that `1`, `1.2`, `1.x` and `1.2.*` begin with. `None` for a whole version and for PEP 440.
fn parse_prefix(part: &str) -> Option<Vec<u64>> {
    let mut words: Vec<&str> = part.strip_prefix(['v', 'V']).unwrap_or(part).split('.').collect();
    let written = words.len();
    while words.last().is_some_and(|word| matches!(*word, "x" | "X" | "*")) {
        words.pop();
    }
    let has_wildcard = words.len() < written;
    let numbers: Vec<u64> = words.iter().map(|word| parse_number(word)).collect::<Option<_>>()?;
    (numbers.len() < NUMBERS_MAX && (has_wildcard || !numbers.is_empty())).then_some(numbers)
}

/// Parses one to three numbers with dots between them, such as `1.2`.
fn parse_numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let numbers: Vec<u64> = text.split('.').map(parse_number).collect::<Option<_>>()?;
    (numbers.len() <= NUMBERS_MAX).then_some(numbers)
}

fn parse_number(word: &str) -> Option<u64> {
    // `parse` would accept a sign.
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// The position of the number whose increase may break callers: the first that is not zero.
fn find_first_that_counts(numbers: &[u64]) -> usize {
    numbers.iter().position(|number| *number > 0).unwrap_or(numbers.len() - 1)
}

/// The versions from `numbers` on, before the next one at `position`.
fn build_range(numbers: &[u64], position: usize) -> String {
    let mut end = numbers[..=position].to_vec();
    end[position] = end[position].saturating_add(1);
    format!(">={},<{}", join_numbers(numbers), join_numbers(&end))
}

fn join_numbers(numbers: &[u64]) -> String {
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
            assert_eq!(to_pep440(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn pep_440_stays_as_it_is() {
        for text in [">=1.2,<2", "~=1.2", "==1.*", "===1.2.0", "!=1", "1.2.3", "<2", "anything"] {
            assert_eq!(to_pep440(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_notation_that_means_nothing_is_refused() {
        for text in ["^", "^x", "~1.2.3.4", "^-1", "^1..2", "", "1,", "^99999999999999999999"] {
            assert!(to_pep440(text).is_err(), "{text:?}");
        }
    }
}
