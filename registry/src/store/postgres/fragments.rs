//! The fragments of statements in Postgres' dialect.

use super::notices::CHANNEL;

/// The number of the lock for transactions that read before they write: "lathe" in ASCII. One such transaction runs at a time,
/// on all servers of the database.
const LOCK: i64 = 0x6c_61_74_68_65;

/// Writes a fragment ([`crate::store::database::expand`]). Lists become arrays: planners expect ten rows of an array and a
/// hundred of a function, for which they would rather read a whole table than an index a hundred times.
pub(super) fn build_fragment(name: &str, arguments: &str) -> String {
    match (name, arguments) {
        ("now", _) => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)".to_owned(),
        ("begin", "alone") => format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})"),
        ("begin", _) => "BEGIN".to_owned(),
        ("notify", text) => format!("pg_notify('{CHANNEL}', {text})"),
        ("members", list) => format!(
            "(SELECT value FROM unnest(ARRAY(SELECT jsonb_array_elements_text(CAST({list} AS JSONB)))) AS members (value))"
        ),
        ("records", _) => build_records(arguments),
        ("field", _) => arguments
            .split_once(' ')
            .map_or_else(String::new, |(json, field)| format!("CAST({json} AS JSON) ->> '{field}'")),
        // The index puts the scope before each word.
        ("words", _) => arguments.split_once(' ').map_or_else(String::new, |(_, words)| words.to_owned()),
        // The planner finds its indexes by itself.
        ("index", _) => String::new(),
        // The planner moves nothing into a subquery with an offset, and nothing out of it.
        ("each", _) => arguments.split_once(' ').map_or_else(String::new, |(_, condition)| {
            format!("LATERAL (SELECT * FROM inv_started s WHERE {condition} OFFSET 0) s")
        }),
        // The planner makes no join of a subquery with an offset.
        ("for", _) => "OFFSET 0".to_owned(),
        ("skip", _) => "FOR UPDATE SKIP LOCKED".to_owned(),
        ("touch", _) => "SELECT pg_current_xact_id()".to_owned(),
        // Stays as it is, which the database refuses.
        (unknown, _) => format!("{{{unknown}}}"),
    }
}

fn build_records(arguments: &str) -> String {
    let (list, columns) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let columns: Vec<_> = columns.split(", ").filter_map(|column| column.split_once(' ')).collect();
    let selected = columns.iter().map(|(name, kind)| match *kind {
        "BYTES" => format!("decode({name}, 'hex') AS {name}"),
        _ => (*name).to_owned(),
    });
    let typed = columns.iter().map(|(name, kind)| match *kind {
        "INTEGER" => format!("{name} BIGINT"),
        _ => format!("{name} TEXT"),
    });
    let (selected, typed) = (selected.collect::<Vec<_>>().join(", "), typed.collect::<Vec<_>>().join(", "));
    format!(
        "(SELECT {selected} FROM unnest(ARRAY(SELECT jsonb_array_elements(CAST({list} AS JSONB)))) AS objects (object)
        CROSS JOIN LATERAL jsonb_to_record(object) AS r({typed}))"
    )
}
