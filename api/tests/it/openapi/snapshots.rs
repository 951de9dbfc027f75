//! The snapshots of the document: a file for each operation, one for each schema, and `rest.snap` with what remains.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::shape::list_operations;

const COMMAND: &str = "INSTA_UPDATE=always cargo test -p api openapi";
/// The folder of the snapshots, beside the sources of the tests.
const FOLDER: &str = "snapshots/openapi";

/// `INSTA_UPDATE=always cargo test -p api openapi` updates the snapshots after an intended change, and removes those of operations
/// and schemas that are gone.
#[test]
fn the_document_matches_its_snapshots() {
    let mut document = api::build_openapi_document();
    document["info"]["version"] = "[version]".into();
    let parts = split(document);
    let stale = find_stale(&parts);
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        stale.iter().for_each(|path| fs::remove_file(path).unwrap());
    } else {
        assert!(
            stale.is_empty(),
            "no operation and no schema has these snapshots; `{COMMAND}` removes them: {stale:#?}"
        );
    }
    for (folder, files) in &parts {
        let snapshot_path = Path::new("..").join(FOLDER).join(folder);
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => snapshot_path}, {
            files.iter().for_each(|(name, part)| insta::assert_json_snapshot!(name.as_str(), part));
        });
    }
}

/// The parts of the document, by their folder and by their name.
fn split(mut document: Value) -> BTreeMap<&'static str, Map<String, Value>> {
    let operations = list_operations(&document).into_iter().map(|(method, path, operation)| {
        let id = operation["operationId"].as_str().unwrap().to_owned();
        (id, json!({"method": method, "path": path, "operation": operation}))
    });
    let operations: Map<String, Value> = operations.collect();
    let in_paths = document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len());
    assert_eq!(operations.len(), in_paths.sum::<usize>(), "operations have ids of their own");
    document.as_object_mut().unwrap().remove("paths");
    let Value::Object(schemas) = document["components"]["schemas"].take() else { panic!("no schemas") };
    document["components"].as_object_mut().unwrap().remove("schemas");
    let rest = Map::from_iter([("rest".to_owned(), document)]);
    BTreeMap::from([("", rest), ("operations", operations), ("schemas", schemas)])
}

/// The files that belong to no part.
fn find_stale(parts: &BTreeMap<&'static str, Map<String, Value>>) -> Vec<PathBuf> {
    let mut stale = Vec::new();
    for (folder, files) in parts {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(FOLDER).join(folder);
        // The first update makes the folders.
        for entry in fs::read_dir(&directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // insta writes `.snap.new` beside a snapshot that differs.
            let is_known =
                name.ends_with(".new") || name.strip_suffix(".snap").is_some_and(|name| files.contains_key(name));
            if path.is_file() && !is_known {
                stale.push(path);
            }
        }
    }
    stale
}
