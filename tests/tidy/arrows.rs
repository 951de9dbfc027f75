//! Allowed dependencies between crates, and of crates on libraries.

use std::collections::BTreeMap;

use toml::Table;

use super::{none, root};

/// Each crate with the crates of this workspace that it may use.
const ARROWS: [(&str, &[&str]); 14] = [
    ("migrations", &[]),
    ("registry", &["migrations"]),
    ("scaffold", &[]),
    ("scaffold/flatten", &[]),
    ("scaffold/javascript_image", &[]),
    ("scaffold/python_image", &[]),
    ("runner", &["registry", "scaffold"]),
    ("repository", &["registry"]),
    ("builder", &["registry", "runner", "repository", "scaffold", "javascript_image", "python_image"]),
    ("agents", &["registry", "runner"]),
    ("api_kit", &["registry", "runner", "repository", "builder", "agents"]),
    ("mcp", &["registry", "runner", "agents", "api_kit"]),
    ("api", &["registry", "runner", "repository", "builder", "agents", "api_kit", "mcp", "scaffold"]),
    ("cli", &["registry", "runner", "repository", "builder", "agents", "api", "scaffold"]),
];

/// Libraries that only some crates may use.
const KEPT: [(&str, &[&str]); 6] = [
    ("sqlx", &["registry"]),
    ("object_store", &["registry"]),
    ("git2", &["repository"]),
    ("axum", &["api_kit", "mcp", "api"]),
    ("rmcp", &["mcp"]),
    ("clap", &["cli"]),
];

/// The directories of all crates.
pub(super) fn crates() -> impl Iterator<Item = &'static str> {
    ARROWS.iter().map(|(directory, _)| *directory)
}

pub(super) fn manifest(directory: &str) -> Table {
    let path = root().join(directory).join("Cargo.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{directory}: {error}"))
}

/// Returns the dependencies of a crate, without those of its tests.
pub(super) fn dependencies(directory: &str) -> Vec<String> {
    let manifest = manifest(directory);
    let sections = ["dependencies", "build-dependencies"].iter().filter_map(|section| manifest.get(*section));
    sections.filter_map(toml::Value::as_table).flat_map(|section| section.keys().cloned()).collect()
}

#[test]
fn every_crate_is_in_the_table() {
    let workspace = manifest(".");
    let members = workspace["workspace"]["members"].as_array().expect("members");
    let mut members: Vec<&str> = members.iter().filter_map(toml::Value::as_str).collect();
    let mut known: Vec<&str> = ARROWS.iter().map(|(directory, _)| *directory).collect();
    members.sort_unstable();
    known.sort_unstable();
    assert_eq!(members, known);
}

#[test]
fn crates_have_only_the_allowed_dependencies() {
    let names: BTreeMap<&str, &str> =
        ARROWS.iter().map(|(directory, _)| (directory.rsplit('/').next().expect("a name"), *directory)).collect();
    let mut findings = Vec::new();
    for (directory, allowed) in ARROWS {
        let ours = dependencies(directory).into_iter().filter(|name| names.contains_key(name.as_str()));
        let wrong = ours.filter(|name| !allowed.contains(&name.as_str()));
        findings.extend(wrong.map(|name| format!("{directory} -> {name}")));
    }
    none("these crates must not know each other", &findings);
}

#[test]
fn some_libraries_are_kept_by_their_crates() {
    let mut findings = Vec::new();
    for (library, owners) in KEPT {
        for (directory, _) in ARROWS.iter().filter(|(directory, _)| !owners.contains(directory)) {
            if dependencies(directory).iter().any(|name| name == library || name.starts_with(&format!("{library}-"))) {
                findings.push(format!("{directory} uses {library}, which {owners:?} keep"));
            }
        }
    }
    none("a library of some crates is used by another", &findings);
}
