//! The sources of the registry are in folders, one for each district.

use std::collections::BTreeSet;

use super::{File, code, none, product};

const SOURCES: &str = "registry/src/";
/// The contents page, and the files that every crate has.
const FILES: [&str; 3] = ["config.rs", "error.rs", "lib.rs"];

const STATEMENTS: &str = "registry/src/store/sql/";
/// The contents page, and the commit of a group of writes of all districts.
const STATEMENT_FILES: [&str; 2] = ["group.rs", "mod.rs"];

/// Folders that every district uses, each with all that it uses of the crate.
const KITS: [(&str, &[&str]); 2] = [("kit", &["kit"]), ("text", &["kit", "text"])];

/// Paths of the product's files below a folder.
fn below<'a>(files: &'a [File], folder: &str) -> Vec<&'a str> {
    files.iter().filter_map(|file| file.path.strip_prefix(folder)).collect()
}

fn folders<'a>(paths: &[&'a str]) -> BTreeSet<&'a str> {
    paths.iter().filter_map(|path| Some(path.split_once('/')?.0)).collect()
}

#[test]
fn the_sources_of_the_registry_are_in_districts() {
    let files = product();
    let beside = |folder: &str, known: &[&str]| {
        let beside = below(&files, folder).into_iter().filter(|path| !path.contains('/') && !known.contains(path));
        beside.map(|path| format!("{folder}{path}")).collect::<Vec<_>>()
    };
    let findings = [beside(SOURCES, &FILES), beside(STATEMENTS, &STATEMENT_FILES)].concat();
    none("a file of the registry stands in no district", &findings);
}

#[test]
fn statements_have_the_districts_of_their_types() {
    let files = product();
    let (types, statements) = (below(&files, SOURCES), below(&files, STATEMENTS));
    let (types, statements) = (folders(&types), folders(&statements));
    assert!(statements.len() > KITS.len(), "the statements have moved");
    let unknown: Vec<_> = statements.difference(&types).map(|folder| format!("{STATEMENTS}{folder}/")).collect();
    none("statements in a folder that is no district", &unknown);
}

#[test]
fn kits_know_no_district() {
    let mut findings = Vec::new();
    for file in product() {
        let Some((_, known)) = KITS.iter().find(|(kit, _)| file.path.starts_with(&format!("{SOURCES}{kit}/"))) else {
            continue;
        };
        for (number, line) in code(&file) {
            // The paths of an exported macro begin at the contents page.
            let line = line.replace("$crate::", "");
            let modules = line.split("crate::").skip(1).filter_map(|rest| Some(rest.split_once("::")?.0));
            let unknown = modules.filter(|module| !known.contains(module));
            findings.extend(unknown.map(|module| format!("{}:{number}: {module}", file.path)));
        }
    }
    none("a kit imports from a district", &findings);
}
