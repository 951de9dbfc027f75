//! A write to a table whose rows servers keep in memory names its change.

use std::path::Path;

use super::statements::find_unannounced;

#[test]
fn every_file_that_changes_rows_in_memory_names_the_change() {
    let unnamed = find_unannounced(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/sql"));
    assert!(unnamed.is_empty(), "name each change with Connection::announce: {unnamed:?}");
}
