//! Rules for the source code that a test can check.

mod arrows;
mod caches;
mod circles;
mod deployment;
mod districts;
mod facts;
mod floors;
mod handles;
mod images;
mod layers;
mod links;
mod parameters;
mod seam;
mod sources;
mod text;
mod unsafe_code;

use std::path::{Path, PathBuf};

/// The top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// A file of the project, its path seen from the top.
struct File {
    path: String,
    text: String,
}

/// All files that are not made by a build.
fn files() -> Vec<File> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found);
    assert!(found.len() > 100, "only {} files were found", found.len());
    found
}

fn collect(directory: &Path, prefix: &str, found: &mut Vec<File>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        let path = format!("{prefix}{name}");
        // `.git` is a directory, or in a second work tree a file with the path of the directory.
        if name == ".git" || path == GENERATED {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            if !matches!(name.as_str(), "target" | "__pycache__" | ".venv" | "node_modules") {
                collect(&entry.path(), &format!("{path}/"), found);
            }
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            found.push(File { path, text });
        }
    }
}

/// The output of a generator, which another test checks.
const GENERATED: &str = "scaffold/rust/sdk/src/bindings.rs";

/// The Rust files of the product itself: no tests, no benchmarks.
fn product() -> Vec<File> {
    let is_product = |path: &str| {
        let in_source = path.contains("/src/") || path.ends_with("/build.rs");
        in_source && path.ends_with(".rs") && !path.contains("/benches/") && !path.contains("/tests/")
    };
    files().into_iter().filter(|file| is_product(&file.path)).collect()
}

/// A file's lines with their numbers, without its unit tests, which stand at its end.
fn code(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let lines = file.text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines.enumerate().map(|(index, line)| (index + 1, line))
}

/// Fails with all findings together.
#[track_caller]
fn none(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}:\n{}", findings.join("\n"));
}
