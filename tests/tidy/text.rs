//! Texts that no file of the repository may contain.

use super::{File, files, none};

/// A forbidden word, joined from two parts so that this file does not contain it.
fn joined(pieces: &[&str]) -> String {
    pieces.concat()
}

fn findings(words: &[String], is_looked_at: impl Fn(&File) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| is_looked_at(file)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            for word in words.iter().filter(|word| line.contains(*word)) {
                found.push(format!("{}:{number}: {word}", file.path));
            }
        }
    }
    found
}

/// Package registries are configuration. The constants of the public ones are written in two parts.
#[test]
fn no_package_registry_is_named() {
    let hosts = [
        joined(&["pypi", ".org"]),
        joined(&["python", "hosted.org"]),
        joined(&["registry.", "npmjs"]),
        joined(&["index.", "crates.io"]),
        joined(&["static.", "crates.io"]),
    ];
    // Cargo's own lock file names its registry.
    none("package registries are configuration", &findings(&hosts, |file| file.path != "Cargo.lock"));
}

/// Paths of a developer's machine do not exist on other machines.
#[test]
fn no_machine_is_named() {
    let paths = ["work", "root", "home"].map(|name| format!("{}{name}{}", '/', '/'));
    let is_about_paths = |line: &str| line.contains("${");
    let found = findings(&paths, |_| true);
    let found: Vec<_> = found.into_iter().filter(|line| !is_about_paths(line)).collect();
    none("no path of a machine", &found);
}

#[test]
fn no_line_ends_in_white_space_and_every_file_in_a_line_break() {
    let mut found = Vec::new();
    let kinds = [".rs", ".toml", ".md", ".py", ".wit", ".sql"];
    for file in files().iter().filter(|file| kinds.iter().any(|kind| file.path.ends_with(kind))) {
        let lines = (1..).zip(file.text.lines());
        let loose = lines.filter(|(_, line)| line.ends_with([' ', '\t']));
        found.extend(loose.map(|(number, _)| format!("{}:{number}", file.path)));
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            found.push(format!("{}: no line break at the end", file.path));
        }
    }
    none("white space at the end of a line, or no line break at the end of a file", &found);
}
