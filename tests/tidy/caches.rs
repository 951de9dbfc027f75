//! The bounds of the caches in memory, as the documentation tells them.

use registry::CacheBound;

use super::files;

/// The units of bounds, the largest first.
const UNITS: [(usize, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

fn caches() -> Vec<CacheBound> {
    [registry::CACHES, runner::CACHES, builder::CACHES, agents::CACHES].concat()
}

fn written(bytes: usize) -> String {
    let (unit, name) =
        UNITS.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit)).expect("a multiple of a kibibyte");
    format!("{} {name}", bytes / unit)
}

#[test]
fn the_table_of_caches_has_the_bounds_of_the_code() {
    let table = files().into_iter().find(|file| file.path == "docs/explanation/caches.md").expect("the table").text;
    let rows =
        table.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | ").collect::<Vec<_>>());
    let rows: Vec<_> = rows.filter(|cells| cells.len() > 2).collect();
    for CacheBound { name, bytes_max } in caches() {
        let bound = rows.iter().find(|cells| cells[0] == name).unwrap_or_else(|| panic!("no row for {name}"))[2];
        assert_eq!(bound, written(bytes_max), "{name}");
    }
}

#[test]
fn all_caches_together_leave_memory_for_the_work() {
    let sum: usize = caches().iter().map(|cache| cache.bytes_max).sum();
    assert!(sum <= 5 << 28, "the caches may take {sum} bytes together");
}
