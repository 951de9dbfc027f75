//! The statements, by topic. Text is static and values are bound; what only SQLite understands is in [`dialect`].

#[macro_use]
pub(super) mod dialect;

pub(super) mod callables;
pub(super) mod group;
pub(super) mod halves;
pub(super) mod listing;
pub(super) mod open;
pub(super) mod recorder;

pub(super) mod answers;
mod api_keys;
mod attestations;
mod builds;
mod envvars;
mod filters;
mod health;
mod history;
mod history_list;
mod history_statements;
mod invocations;
mod keys;
mod leases;
mod migrate;
mod operations;
#[cfg(test)]
mod plans;
mod positions;
mod publish;
mod record_pages;
mod records;
mod roles;
mod row;
mod search;
mod taped_runs;
mod tapes;
mod tokens;
mod tools;
mod tools_list;
mod users;
mod variables;
mod versions;
mod versions_list;
