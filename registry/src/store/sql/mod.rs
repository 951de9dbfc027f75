//! The statements, by topic. Statement text is static and values are bound. Everything specific to SQLite is in
//! [`dialect`].

#[macro_use]
pub(super) mod dialect;

pub(super) mod group;
pub(super) mod listing;
pub(super) mod open;
pub(super) mod record_rows;

mod administrators;
mod answers;
mod api_keys;
mod attestations;
mod batch;
mod builds;
mod callables;
mod collection;
mod counts;
mod envvars;
mod filters;
mod health;
mod history;
mod history_list;
mod history_statements;
mod insert_beside;
mod insert_records;
mod invocations;
mod key_checks;
mod keys;
mod leases;
mod list;
mod migrate;
mod operations;
mod organizations;
#[cfg(test)]
mod plans;
mod positions;
mod publish;
mod record_pages;
mod records;
mod roles;
mod row;
mod run_end;
pub(super) mod run_start;
mod search;
mod search_columns;
mod search_rebuild;
mod search_text;
mod snapshot;
mod taped_runs;
mod tapes;
mod tokens;
mod tool_edit;
mod tools;
mod tools_list;
mod unlink;
mod users;
mod variables;
mod versions;
mod versions_list;
