//! Which crates have unsafe code.

use super::arrows::{crates, manifest};
use super::root;

/// The crates with unsafe code: calls of the system, memory that runs reuse, and compiled code that is mapped.
const UNSAFE: [&str; 2] = ["runner", "builder"];

/// A source of the images, whose recipes have its digest. It gets the lints with the next images.
const IN_IMAGES: &str = "scaffold/flatten";

fn crates_with_lints() -> impl Iterator<Item = &'static str> {
    crates().filter(|directory| *directory != IN_IMAGES)
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    for directory in crates_with_lints() {
        let manifest = manifest(directory);
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(inherits, Some(true), "{directory}/Cargo.toml");
    }
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    for directory in crates_with_lints().filter(|directory| !UNSAFE.contains(directory)) {
        let sources = root().join(directory).join("src");
        let contents = ["lib.rs", "main.rs"].iter().find_map(|name| std::fs::read_to_string(sources.join(name)).ok());
        let contents = contents.unwrap_or_else(|| panic!("{directory} has neither lib.rs nor main.rs"));
        assert!(contents.lines().any(|line| line == "#![forbid(unsafe_code)]"), "{directory} may have unsafe code");
    }
}
