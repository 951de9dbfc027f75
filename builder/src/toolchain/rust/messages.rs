//! Finds the first error in the output of a failed build.

use crate::error::Location;

/// Lines after an error that may contain its location.
const LINES_TO_LOCATION_MAX: usize = 8;
/// The beginnings of errors that only summarise earlier errors.
const SUMMARIES: [&str; 2] = ["could not compile", "aborting due to"];
const PROJECT: &str = "/src/";
const REMEDY: &str = "run `cargo generate-lockfile` and commit Cargo.lock";
/// A message, cut. Causes may include the output of a build script, which has no bound.
const MESSAGE_CHARACTERS_MAX: usize = 2_000;

/// An error that cargo or rustc printed.
#[derive(Debug, PartialEq, Eq)]
pub struct CompilerError {
    /// The error code, such as `E0308`, or `cargo`.
    pub check: String,
    pub message: String,
    pub location: Location,
}

/// The first error in what cargo and rustc print.
pub fn find_first_error(log: &str) -> Option<CompilerError> {
    let lines: Vec<&str> = log.lines().collect();
    lines.iter().enumerate().find_map(|(number, line)| {
        let (check, message) = parse_error(line)?;
        let around = &lines[number + 1..lines.len().min(number + 1 + LINES_TO_LOCATION_MAX)];
        let location =
            around.iter().take_while(|line| parse_error(line).is_none()).find_map(|line| parse_location(line));
        if let Some(message) = explain_lock_file(message, around) {
            return Some(CompilerError { check: "lock-file".into(), message, location: Location::file("Cargo.lock") });
        }
        let (message, location) = (add_causes(message, &lines[number + 1..]), location.unwrap_or_default());
        Some(CompilerError { check, message, location })
    })
}

/// Explains an error about a lock file that does not fit the manifest. Cargo looks for what it lacks among the crates of the
/// build, which are those of the lock file.
fn explain_lock_file(message: &str, below: &[&str]) -> Option<String> {
    const LACKS: &str = "no matching package";
    if message.contains("--locked") || message.contains("cannot update the lock file") {
        return Some(format!("does not fit Cargo.toml; {REMEDY}"));
    }
    let rest = message.strip_prefix(LACKS)?;
    let named = rest
        .strip_prefix(" named `")
        .or_else(|| below.iter().find_map(|line| line.trim().strip_prefix("searched package name: `")));
    let name = named.and_then(|rest| rest.split('`').next()).map(|name| format!("lacks `{name}`"));
    Some(format!("{}; {REMEDY}", name.as_deref().unwrap_or("lacks a package of Cargo.toml")))
}

/// The crate that cargo could not compile, or whose build script failed.
pub fn find_failed_crate(log: &str) -> Option<&str> {
    const BEFORE: [&str; 2] = ["error: could not compile `", "error: failed to run custom build command for `"];
    let rest = log.lines().find_map(|line| BEFORE.iter().find_map(|words| line.strip_prefix(words)))?;
    rest.split(['`', ' ']).next()
}

/// Parses `error[E0308]: mismatched types` or `error: …`.
fn parse_error(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_prefix("error")?;
    let (check, message) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once("]: ")?,
        None => ("cargo", rest.strip_prefix(": ")?),
    };
    let is_summary = SUMMARIES.iter().any(|words| message.starts_with(words));
    (!is_summary).then(|| (check.to_owned(), message))
}

/// The message with its causes, which cargo prints in the lines below.
fn add_causes(message: &str, below: &[&str]) -> String {
    let mut text = message.to_owned();
    if let [first, causes @ ..] = below
        && first.is_empty()
        && causes.first().is_some_and(|line| *line == "Caused by:")
    {
        for cause in causes.iter().skip(1).take_while(|line| line.starts_with("  ")) {
            text.push_str(": ");
            text.push_str(cause.trim());
        }
    }
    if let Some((end, _)) = text.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Parses `   --> src/lib.rs:12:5`.
fn parse_location(line: &str) -> Option<Location> {
    let path = line.trim_start().strip_prefix("--> ")?;
    let mut parts = path.rsplitn(3, ':');
    let (_column, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let file = file.strip_prefix(PROJECT).unwrap_or(file);
    Some(Location { line: number.parse().ok(), ..Location::file(file) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, check: &str, message: &str, location: Location) {
        let expected = CompilerError { check: check.into(), message: message.into(), location };
        assert_eq!(find_first_error(log), Some(expected), "{log}");
    }

    #[test]
    fn the_first_error_is_found_with_its_location() {
        let log = "   Compiling greet v0.1.0 (/src)\nwarning: unused\n --> src/a.rs:1:1\nerror[E0308]: mismatched types\n  \
                   --> src/lib.rs:12:5\n   |\nerror[E0425]: other\n --> src/lib.rs:1:1\nerror: could not compile `greet`\n";
        check(log, "E0308", "mismatched types", Location::line("src/lib.rs", 12));
        let log = "error: expected `;`\n  --> /src/src/lib.rs:3:9\nerror: aborting due to 1 previous error\n";
        check(log, "cargo", "expected `;`", Location::line("src/lib.rs", 3));
    }

    #[test]
    fn an_error_without_a_location_keeps_its_causes() {
        let log = "error: failed to parse manifest at `/src/Cargo.toml`\n\nCaused by:\n  no targets\n\nmore\n";
        check(log, "cargo", "failed to parse manifest at `/src/Cargo.toml`: no targets", Location::default());
        let endless = format!("error: it ended\n\nCaused by:\n{}", "  and so on\n".repeat(10_000));
        let told = find_first_error(&endless).unwrap().message;
        assert!(told.starts_with("it ended: and so on: ") && told.ends_with('…'), "{told}");
        assert_eq!(told.chars().count(), MESSAGE_CHARACTERS_MAX + 1);
        let log = "error: one\nerror: two\n --> src/lib.rs:1:1\n";
        check(log, "cargo", "one", Location::default());
    }

    #[test]
    fn a_lock_file_without_a_package_is_told() {
        let said = |message: &str| format!("{message}; run `cargo generate-lockfile` and commit Cargo.lock");
        let log = "error: no matching package found\nsearched package name: `uuid`\nperhaps you meant:      ulid\n";
        check(log, "lock-file", &said("lacks `uuid`"), Location::file("Cargo.lock"));
        let log = "error: no matching package named `uuid` found\nlocation searched: directory source `/vendor`\n";
        check(log, "lock-file", &said("lacks `uuid`"), Location::file("Cargo.lock"));
        let log = "error: the lock file /src/Cargo.lock needs to be updated but --locked was passed to prevent this\n";
        check(log, "lock-file", &said("does not fit Cargo.toml"), Location::file("Cargo.lock"));
    }

    #[test]
    fn a_failed_crate_is_named() {
        let script = "error: failed to run custom build command for `ring v0.17.8`\n";
        assert_eq!(find_failed_crate(script), Some("ring"));
        let code = "error[E0432]: no\nerror: could not compile `mio` (lib) due to 2 previous errors\n";
        assert_eq!(
            (find_failed_crate(code), find_failed_crate("error: no matching package found\n")),
            (Some("mio"), None)
        );
    }

    #[test]
    fn output_without_an_error_has_none() {
        assert_eq!(find_first_error("   Compiling a\nerrors are fun\nerror: could not compile `a`\n"), None);
    }
}
