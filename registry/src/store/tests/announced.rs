//! A write to a table whose rows servers keep in memory names its change.

use std::collections::BTreeSet;
use std::path::Path;

use super::statements::statements;

/// Tables whose rows servers keep in memory.
const KEPT: [&str; 15] = [
    "agent_revisions",
    "agents",
    "api_keys",
    "cancellations",
    "envvars",
    "library_items",
    "library_shares",
    "members",
    "oauth_grants",
    "oauth_tokens",
    "roles",
    "tokens",
    "tools",
    "user_variables",
    "versions",
];

/// Files whose writes name no change, and the reason.
const UNANNOUNCED: [(&str, &str); 4] = [
    ("library/due.rs", "tasks are in no memory"),
    ("library/expiry.rs", "the items were deleted before"),
    ("library/run_ends.rs", "tasks are in no memory"),
    ("library/uses.rs", "counts of uses are in no memory"),
];

/// Functions that name a change.
const NAMING: [&str; 3] = [".announce(", "announce_revocation(", ".touch("];

fn written_table(statement: &str) -> Option<&str> {
    let rest = ["INSERT INTO ", "UPDATE ", "DELETE FROM "].iter().find_map(|verb| statement.strip_prefix(verb))?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
}

#[test]
fn every_file_that_changes_rows_in_memory_names_the_change() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/sql");
    let names_changes = |file: &str| {
        let source = std::fs::read_to_string(folder.join(file)).unwrap();
        NAMING.iter().any(|naming| source.contains(naming))
    };
    let changing = statements(&folder).into_iter();
    let changing = changing.filter(|found| written_table(&found.text).is_some_and(|table| KEPT.contains(&table)));
    let unnamed: BTreeSet<_> = changing.map(|found| found.file).filter(|file| !names_changes(file)).collect();
    let expected = BTreeSet::from(UNANNOUNCED.map(|(file, _)| file.to_owned()));
    assert_eq!(unnamed, expected, "name each change with Connection::announce, or say here why none has to be named");
}
