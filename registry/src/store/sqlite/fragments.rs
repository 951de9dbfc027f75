//! The fragments of statements in SQLite's dialect.

use std::fmt::Write;

/// Writes a fragment ([`crate::store::database::expand`]).
pub(super) fn build_fragment(name: &str, arguments: &str) -> String {
    match name {
        "now" => "CAST(unixepoch('subsec') * 1000 AS INTEGER)".to_owned(),
        // Immediate: SQLite refuses, without waiting, to upgrade a transaction that began with a read.
        "begin" => "BEGIN IMMEDIATE".to_owned(),
        // There is no other server.
        "notify" => "NULL".to_owned(),
        "members" => format!("(SELECT value FROM json_each({arguments}))"),
        "records" => build_records(arguments),
        "field" => arguments.split_once(' ').map_or_else(String::new, |(json, field)| format!("{json} ->> '{field}'")),
        "words" => build_words(arguments),
        "index" => format!("INDEXED BY {arguments}"),
        // The condition stands after the tables, too.
        "each" => {
            format!("inv_started s INDEXED BY {}", arguments.split_once(' ').map_or(arguments, |(index, _)| index))
        }
        // The planner does so by itself.
        "for" => String::new(),
        // One connection writes at a time.
        "skip" => String::new(),
        // The number has no meaning.
        "touch" => "PRAGMA user_version = 0".to_owned(),
        // Stays as it is, which the database refuses.
        unknown => format!("{{{unknown}}}"),
    }
}

/// The index takes what is between two spaces.
fn build_words(arguments: &str) -> String {
    let (scope, words) = arguments.split_once(' ').unwrap_or((arguments, ""));
    format!("{scope} || replace(nullif({words}, ''), ' ', ' ' || {scope})")
}

/// The limit makes the database read the list once, and not once for each row of another table.
fn build_records(arguments: &str) -> String {
    let (list, columns) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let mut records = String::from("(SELECT ");
    for (index, column) in columns.split(", ").enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = match column.split_once(' ') {
            Some((name, "BYTES")) => write!(records, "{separator}unhex(value ->> '{name}') AS {name}"),
            Some((name, _)) => write!(records, "{separator}value ->> '{name}' AS {name}"),
            None => Ok(()),
        };
    }
    let _ = write!(records, " FROM jsonb_each({list}) LIMIT -1)");
    records
}
