//! Every statement is accepted by the database, also one that no other test runs, and a write to a table whose rows servers keep in
//! memory names its change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use registry::statements::Statement;

use crate::database;
use crate::statements::{Found, find_unannounced, statements};
use crate::world::World;

/// Fewer statements mean that the test no longer sees them.
const STATEMENTS_MIN: usize = 80;

/// Files whose writes name no change, and the reason.
const UNANNOUNCED: [(&str, &str); 4] = [
    ("library/due.rs", "tasks are in no memory"),
    ("library/expiry.rs", "the items were deleted before"),
    ("library/run_ends.rs", "tasks are in no memory"),
    ("library/uses.rs", "counts of uses are in no memory"),
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store")
}

#[tokio::test]
async fn every_statement_is_prepared() {
    let world = World::new().await;
    let found = statements(&sources());
    assert!(found.len() >= STATEMENTS_MIN, "only {} statements were found", found.len());
    let mut refused = Vec::new();
    for (number, Found { file, text }) in found.into_iter().enumerate() {
        let mut statement = Statement::default();
        match database::is_server() {
            true => statement.push(&format!("PREPARE of_test_{number} AS ")),
            false => statement.push("EXPLAIN "),
        }
        statement.push(&text);
        if let Err(failure) = statement.query().fetch_all(world.store.readers()).await {
            refused.push(format!("{file}: {}\n    {text}", registry::Error::from(failure)));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn every_file_that_changes_rows_in_memory_names_the_change() {
    let expected = BTreeSet::from(UNANNOUNCED.map(|(file, _)| file.to_owned()));
    assert_eq!(find_unannounced(&sources()), expected, "name each change, or say here why none has to be named");
}
