//! What a build that failed said first, out of what it printed.

use crate::error::Place;

/// Lines in which the place of an error follows it.
const LINES_TO_PLACE_MAX: usize = 8;
/// What cargo says of errors that came before.
const CONSEQUENCES: [&str; 2] = ["could not compile", "aborting due to"];
const PROJECT: &str = "/src/";
/// A build script may print without end, and what it printed is told as a cause.
const MESSAGE_CHARACTERS_MAX: usize = 2_000;

#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// Such as `E0308`, or `cargo`.
    pub check: String,
    pub message: String,
    pub place: Place,
}

/// The first error in what cargo and rustc print.
pub fn first_error(log: &str) -> Option<Said> {
    let lines: Vec<&str> = log.lines().collect();
    lines.iter().enumerate().find_map(|(number, line)| {
        let (check, message) = error(line)?;
        let around = &lines[number + 1..lines.len().min(number + 1 + LINES_TO_PLACE_MAX)];
        let place = around.iter().take_while(|line| error(line).is_none()).find_map(|line| place(line));
        Some(Said { check, message: with_causes(message, &lines[number + 1..]), place: place.unwrap_or_default() })
    })
}

/// `error[E0308]: mismatched types`, `error: …`.
fn error(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_prefix("error")?;
    let (check, message) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once("]: ")?,
        None => ("cargo", rest.strip_prefix(": ")?),
    };
    let is_consequence = CONSEQUENCES.iter().any(|words| message.starts_with(words));
    (!is_consequence).then(|| (check.to_owned(), message))
}

/// Cargo's own errors tell their causes in lines below.
fn with_causes(message: &str, below: &[&str]) -> String {
    let mut told = message.to_owned();
    if let [first, causes @ ..] = below
        && first.is_empty()
        && causes.first().is_some_and(|line| *line == "Caused by:")
    {
        for cause in causes.iter().skip(1).take_while(|line| line.starts_with("  ")) {
            told.push_str(": ");
            told.push_str(cause.trim());
        }
    }
    if let Some((end, _)) = told.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        told.truncate(end);
        told.push('…');
    }
    told
}

/// `   --> src/lib.rs:12:5`.
fn place(line: &str) -> Option<Place> {
    let path = line.trim_start().strip_prefix("--> ")?;
    let mut parts = path.rsplitn(3, ':');
    let (_column, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let file = file.strip_prefix(PROJECT).unwrap_or(file);
    Some(Place { line: number.parse().ok(), ..Place::file(file) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, check: &str, message: &str, place: Place) {
        let expected = Said { check: check.into(), message: message.into(), place };
        assert_eq!(first_error(log), Some(expected), "{log}");
    }

    #[test]
    fn the_first_error_is_told_with_its_place() {
        let log = "   Compiling greet v0.1.0 (/src)\nwarning: unused\n --> src/a.rs:1:1\nerror[E0308]: mismatched types\n  \
                   --> src/lib.rs:12:5\n   |\nerror[E0425]: other\n --> src/lib.rs:1:1\nerror: could not compile `greet`\n";
        check(log, "E0308", "mismatched types", Place::line("src/lib.rs", 12));
        let log = "error: expected `;`\n  --> /src/src/lib.rs:3:9\nerror: aborting due to 1 previous error\n";
        check(log, "cargo", "expected `;`", Place::line("src/lib.rs", 3));
    }

    #[test]
    fn an_error_without_a_place_keeps_its_causes() {
        let log = "error: failed to parse manifest at `/src/Cargo.toml`\n\nCaused by:\n  no targets\n\nmore\n";
        check(log, "cargo", "failed to parse manifest at `/src/Cargo.toml`: no targets", Place::default());
        let endless = format!("error: it ended\n\nCaused by:\n{}", "  and so on\n".repeat(10_000));
        let told = first_error(&endless).unwrap().message;
        assert!(told.starts_with("it ended: and so on: ") && told.ends_with('…'), "{told}");
        assert_eq!(told.chars().count(), MESSAGE_CHARACTERS_MAX + 1);
        let log = "error: one\nerror: two\n --> src/lib.rs:1:1\n";
        check(log, "cargo", "one", Place::default());
    }

    #[test]
    fn a_build_that_says_nothing_said_nothing() {
        assert_eq!(first_error("   Compiling a\nerrors are fun\nerror: could not compile `a`\n"), None);
    }
}
