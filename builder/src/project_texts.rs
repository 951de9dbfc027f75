//! The files of a project as the steps of a build read them: texts are decoded once, and names have one form.

use std::collections::BTreeMap;

use crate::composed_path::compose;
use crate::decoded_text::decode_text;
use crate::error::{Error, Location};
use crate::steps::{lock, npm};

/// The check of refusals.
const CHECK: &str = "utf-8";
/// Files that the builder itself reads, and the stage that reads them.
const DOCUMENTS: [(&str, &str); 6] = [
    ("pyproject.toml", "manifest"),
    ("package.json", "manifest"),
    ("Cargo.toml", "manifest"),
    ("Cargo.lock", "dependencies"),
    (lock::FILE, "dependencies"),
    (npm::lock::FILE, "dependencies"),
];
/// Directories whose JSON files the builder reads.
const DIRECTORIES: [(&str, &str); 2] = [("checks/", "checks"), ("mocks/", "mocks")];
const BUNDLE: &str = "bundle";
/// Sources, and the stage that compiles them.
const SOURCES: [(&[&str], &str); 2] =
    [(&["py", "rs"], "compile"), (&["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"], BUNDLE)];
/// Directories that are not part of a bundle, or whose files are the packages'.
const NOT_COMPILED: [&str; 5] = ["tests/", "test/", "target/", "node_modules/", "."];
/// Lines in which a Python file may name its encoding (PEP 263).
const CODING_LINES: usize = 2;

/// Removes the byte order marks of texts, and composes the characters of file names: a file that was made on macOS may
/// have a decomposed name, and is imported by its composed one.
///
/// # Errors
/// When a text is in another encoding than UTF-8, or two names become one.
pub fn normalise(files: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut normal = BTreeMap::new();
    for (name, mut contents) in files {
        let path = compose(&name);
        if let Some(stage) = find_stage(&path) {
            remove_mark(&path, &mut contents, stage)?;
        }
        // A bundler compares the names in imports byte by byte, and they may be either.
        if name != path && find_stage(&path) == Some(BUNDLE) {
            normal.insert(name, contents.clone());
        }
        if normal.insert(path.clone(), contents).is_some() {
            let message =
                "another file has this name, too, with its accents written as other characters; rename one of them";
            return Err(Error::failed("checkout", "name", message).at(Location::file(&path)));
        }
    }
    Ok(normal)
}

/// The stage that reads a file as text.
fn find_stage(path: &str) -> Option<&'static str> {
    if let Some((_, stage)) = DOCUMENTS.iter().find(|(name, _)| *name == path) {
        return Some(stage);
    }
    let is_json = path.ends_with(".json");
    if let Some((_, stage)) = DIRECTORIES.iter().find(|(directory, _)| is_json && path.starts_with(directory)) {
        return Some(stage);
    }
    if NOT_COMPILED.iter().any(|directory| path.starts_with(directory)) {
        return None;
    }
    let (_, extension) = path.rsplit_once('.')?;
    SOURCES.iter().find(|(extensions, _)| extensions.contains(&extension)).map(|(_, stage)| *stage)
}

fn remove_mark(path: &str, contents: &mut Vec<u8>, stage: &'static str) -> Result<(), Error> {
    match decode_text(contents) {
        Ok(text) => {
            let mark = contents.len() - text.len();
            contents.drain(..mark);
            Ok(())
        }
        Err(problem) if problem.line.is_some() && path.ends_with(".py") && names_encoding(contents) => Ok(()),
        Err(problem) => {
            let place = Location { line: problem.line, ..Location::file(path) };
            Err(Error::failed(stage, CHECK, problem.to_string()).at(place))
        }
    }
}

/// Whether a Python file names its encoding, which the interpreter then decodes.
fn names_encoding(contents: &[u8]) -> bool {
    let mut lines = contents.split(|byte| *byte == b'\n').take(CODING_LINES);
    lines.any(|line| line.trim_ascii_start().starts_with(b"#") && memchr::memmem::find(line, b"coding").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(path: &str, contents: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, String> {
        normalise(BTreeMap::from([(path.to_owned(), contents.to_vec())])).map_err(|error| error.to_string())
    }

    #[test]
    fn each_text_of_a_project_loses_its_byte_order_mark() {
        let sources = ["tool.py", "src/lib.rs", "index.js", "lib/a.mts", "checks/a.json", "mocks/b.json"];
        for path in DOCUMENTS.map(|(name, _)| name).into_iter().chain(sources) {
            assert_eq!(normal(path, "\u{feff}x".as_bytes()).unwrap()[path], b"x", "{path}");
        }
        for path in ["data/a.json", "tests/a.py", "notes.txt", ".hidden/a.py", "picture"] {
            assert_eq!(normal(path, "\u{feff}x".as_bytes()).unwrap()[path].len(), 4, "{path} is data");
        }
    }

    #[test]
    fn other_encodings_are_refused_with_file_and_stage() {
        let utf_16: Vec<u8> = "{\"a\": 1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (path, expected) in [
            ("requirements.lock", "dependencies failed (utf-8): requirements.lock: the text is encoded in UTF-16LE"),
            ("package.json", "manifest failed (utf-8): package.json: "),
            ("checks/a.json", "checks failed (utf-8): checks/a.json: "),
            ("mocks/a.json", "mocks failed (utf-8): mocks/a.json: "),
            ("tool.py", "compile failed (utf-8): tool.py: "),
            ("index.ts", "bundle failed (utf-8): index.ts: "),
        ] {
            let refused = normal(path, &utf_16).unwrap_err();
            assert!(refused.starts_with(expected) && refused.contains("iconv"), "{refused}");
        }
        assert!(normal("data/a.json", &utf_16).is_ok());
        assert!(normal("tool.py", b"x = 1\ny = '\xfc'\n").unwrap_err().contains("tool.py:2: "));
        assert!(normal("tool.py", b"# -*- coding: latin-1 -*-\ny = '\xfc'\n").is_ok());
    }

    #[test]
    fn names_are_composed() {
        assert!(normal("cafe\u{301}.py", b"").unwrap().contains_key("caf\u{e9}.py"));
        let names: Vec<String> = normal("cafe\u{301}.ts", b"").unwrap().into_keys().collect();
        assert_eq!(names, ["cafe\u{301}.ts", "caf\u{e9}.ts"], "imports have either");
        let twins = BTreeMap::from(["cafe\u{301}.py", "caf\u{e9}.py"].map(|path| (path.to_owned(), Vec::new())));
        assert!(normalise(twins).unwrap_err().to_string().contains("caf\u{e9}.py: another file has this name"));
    }
}
