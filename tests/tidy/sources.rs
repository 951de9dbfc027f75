//! Forbidden code in the product, and the maximum size of its files and functions.

use super::{code, files, none, product};

/// Macros and methods that stop a process or mark unfinished code. They are allowed in tests only.
const FORBIDDEN: [&str; 10] = [
    "todo!",
    "unimplemented!",
    "dbg!",
    "panic!(",
    ".unwrap()",
    ".expect(",
    ".unwrap_err()",
    "unreachable!",
    "println!(",
    "#[allow",
];

const LINES_MAX: usize = 400;

/// Longest function, in lines. A longer one cannot be read in one piece.
const FUNCTION_LINES_MAX: usize = 70;

/// Longest test file without a module comment.
const SMALL_TEST_LINES: usize = 10;

#[test]
fn nothing_stops_the_process() {
    let mut findings = Vec::new();
    for file in product() {
        // A build script may panic, which fails the build, and prints instructions for cargo.
        let allowed: &[&str] =
            if file.path.ends_with("build.rs") && !file.path.contains("/src/") { &["println!("] } else { &[] };
        for (number, line) in code(&file).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for word in FORBIDDEN.iter().filter(|word| line.contains(**word) && !allowed.contains(word)) {
                findings.push(format!("{}:{number}: {word}", file.path));
            }
        }
    }
    none("outside tests, errors are values", &findings);
}

/// The manifests switch these tests off, because cargo would read every crate once more to find none.
#[test]
fn comments_have_no_examples_that_nothing_runs() {
    let is_example = |line: &str| line.trim_start().starts_with("/// ```") || line.trim_start().starts_with("//! ```");
    // The package for tools in Rust is outside the workspace.
    let files = product().into_iter().filter(|file| !file.path.starts_with("scaffold/rust/"));
    let found = files.flat_map(|file| {
        let lines = (1..).zip(file.text.lines()).filter(|(_, line)| is_example(line));
        lines.map(|(number, _)| format!("{}:{number}", file.path)).collect::<Vec<_>>()
    });
    none("an example in a comment is not compiled; write a test", &found.collect::<Vec<_>>());
}

#[test]
fn every_file_has_a_module_comment() {
    let mut findings = Vec::new();
    for file in files().into_iter().filter(|file| file.path.ends_with(".rs")) {
        let is_small_test = file.path.contains("tests/") && file.text.lines().count() < SMALL_TEST_LINES;
        if !file.text.starts_with("//!") && !is_small_test {
            findings.push(file.path);
        }
    }
    none("files begin with //! and what is in them", &findings);
}

#[test]
fn files_stay_small() {
    let sources = files().into_iter().filter(|file| file.path.ends_with(".rs") || file.path.ends_with(".py"));
    let long = sources.map(|file| (file.text.lines().count(), file.path)).filter(|(lines, _)| *lines > LINES_MAX);
    let findings: Vec<_> = long.map(|(lines, path)| format!("{path} has {lines} lines")).collect();
    none("a file has at most 400 lines", &findings);
}

#[test]
fn functions_stay_small() {
    let mut findings = Vec::new();
    for file in files().into_iter().filter(|file| file.path.ends_with(".rs")) {
        for (name, line, length) in functions(&file.text) {
            if length > FUNCTION_LINES_MAX {
                findings.push(format!("{}:{line}: {name} has {length} lines", file.path));
            }
        }
    }
    none("a function has at most 70 lines", &findings);
}

/// Returns functions with their first line and length. The formatter puts each closing brace at the indentation of its
/// function.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let Some(at) = trimmed.find("fn ").filter(|at| *at == 0 || trimmed[..*at].ends_with(' ')) else { continue };
        let is_head = trimmed[..at]
            .split_whitespace()
            .all(|word| matches!(word, "pub" | "async" | "const" | "unsafe" | "extern") || word.starts_with("pub("));
        let end = format!("{}}}", " ".repeat(line.len() - trimmed.len()));
        let length = lines[index..].iter().position(|line| *line == end);
        if let (true, Some(length)) = (is_head, length) {
            let name = trimmed[at + 3..].split(['(', '<']).next().unwrap_or_default();
            found.push((name.to_owned(), index + 1, length + 1));
        }
    }
    found
}

#[test]
fn functions_are_found() {
    let text =
        "fn a() {\n}\n\nimpl X {\n    pub(crate) async fn b<T>(\n        t: T,\n    ) {\n        t();\n    }\n}\n";
    let found = functions(text);
    assert_eq!(found, [("a".to_owned(), 1, 2), ("b".to_owned(), 5, 5)]);
}
