//! Only the modules of a database know it. Everything else in the store is written for both.

use super::{File, code, none, product};

/// The folders with statements.
const STORES: [&str; 2] = ["registry/src/store/", "agents/src/store/"];

/// Folders that know a database, the one that copies from one to the other, and the file that chooses between them.
const KNOWING: [&str; 4] = [
    "registry/src/store/sqlite/",
    "registry/src/store/postgres/",
    "registry/src/store/transfer/",
    "registry/src/store/mod.rs",
];

/// Names of databases, of their library, and words that one of them understands.
const WORDS: [&str; 22] = [
    "sqlite",
    "postgres",
    "sqlx",
    "rusqlite",
    "libpq",
    "pragma",
    "fts5",
    "json_each",
    "json_extract",
    "jsonb",
    "unixepoch",
    "unhex",
    "tsvector",
    "tsquery",
    "plpgsql",
    "pg_",
    "indexed by",
    "begin immediate",
    "clock_timestamp",
    "insert or ",
    "without rowid",
    "returning *",
];

/// The library of the databases. Types of other crates never are its types.
const LIBRARY: &str = "sqlx";

fn knows(file: &File) -> bool {
    KNOWING.iter().any(|path| file.path.starts_with(path))
}

fn findings(file: &File, words: &[&str]) -> Vec<String> {
    let lines = code(file).map(|(number, line)| (number, line.to_lowercase()));
    let found = lines.flat_map(|(number, line)| {
        let found = words.iter().filter(|word| line.contains(**word));
        found.map(|word| format!("{}:{number}: {word}", file.path)).collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
fn the_store_names_a_database_in_its_modules_only() {
    let is_of_store = |file: &File| STORES.iter().any(|store| file.path.starts_with(store));
    let store: Vec<_> = product().into_iter().filter(is_of_store).collect();
    assert!(store.iter().filter(|file| knows(file)).count() > 10, "the modules of the databases have moved");
    let shared = store.iter().filter(|file| !knows(file));
    none(
        "a statement or comment for one database only",
        &shared.flat_map(|file| findings(file, &WORDS)).collect::<Vec<_>>(),
    );
}

#[test]
fn only_the_modules_of_a_database_use_its_library() {
    let others = product().into_iter().filter(|file| !knows(file));
    let found: Vec<_> = others.flat_map(|file| findings(&file, &[LIBRARY])).collect();
    none("the library of the databases is used outside of their modules", &found);
}

#[test]
fn a_word_of_one_database_is_found() {
    let file = |text: &str| File { path: "registry/src/store/sql/x.rs".into(), text: text.into() };
    let found = findings(&file("//! What SQLite does.\nconst A: &str = \"SELECT jsonb_each($1)\";"), &WORDS);
    assert_eq!(found, ["registry/src/store/sql/x.rs:1: sqlite", "registry/src/store/sql/x.rs:2: jsonb"]);
    assert!(findings(&file("const A: u8 = 1;\n#[cfg(test)]\nuse sqlx::x;"), &WORDS).is_empty());
}
