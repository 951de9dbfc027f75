//! Allowed dependencies between crates, and between modules and libraries.

use std::collections::BTreeMap;

use toml::Table;

use super::{code, none, product, root};

/// Each crate with the crates of this workspace that it may use.
const ARROWS: [(&str, &[&str]); 10] = [
    ("migrations", &[]),
    ("registry", &["migrations"]),
    ("scaffold", &[]),
    ("scaffold/flatten", &[]),
    ("scaffold/javascript_image", &[]),
    ("scaffold/python_image", &[]),
    ("runner", &["registry", "scaffold"]),
    ("builder", &["registry", "runner", "scaffold", "javascript_image", "python_image"]),
    ("api", &["registry", "runner", "builder", "scaffold"]),
    ("cli", &["registry", "runner", "builder", "api", "scaffold"]),
];

/// Libraries that only one crate may use.
const KEPT: [(&str, &str); 4] = [("sqlx", "registry"), ("object_store", "registry"), ("axum", "api"), ("clap", "cli")];

/// Prefixes of the only paths in each crate that may use the store.
const SHELLS: [(&str, &str); 2] = [("runner/src/", "runner/src/invoke"), ("builder/src/", "builder/src/publish")];

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
fn dependencies(directory: &str) -> Vec<String> {
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
fn some_libraries_are_kept_by_one_crate() {
    let mut findings = Vec::new();
    for (library, owner) in KEPT {
        for (directory, _) in ARROWS.iter().filter(|(directory, _)| *directory != owner) {
            if dependencies(directory).iter().any(|name| name == library || name.starts_with(&format!("{library}-"))) {
                findings.push(format!("{directory} uses {library}, which {owner} keeps"));
            }
        }
    }
    none("a library of one crate is used by another", &findings);
}

#[test]
fn the_store_is_touched_by_the_shells_alone() {
    let mut findings = Vec::new();
    for file in product() {
        let Some((_, shell)) = SHELLS.iter().find(|(crate_sources, _)| file.path.starts_with(crate_sources)) else {
            continue;
        };
        let is_other = !file.path.starts_with(shell);
        let names_store =
            |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "Store");
        // Wasmtime has a type of that name.
        let wasmtime = file.text.contains("use wasmtime") || file.text.contains("wasmtime::Store");
        for (number, line) in code(&file).filter(|_| is_other) {
            let registrys =
                line.contains("registry::Store") || (names_store(line) && !wasmtime && !line.contains("//"));
            let is_variant = line.contains("Self::Store")
                || line.contains("Store(")
                || line.contains("::Store =>")
                || line.trim() == "Store,";
            if registrys && !is_variant {
                findings.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    none("only invoke/ and publish/ touch the store", &findings);
}
