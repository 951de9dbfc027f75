//! SQLite, the database in the data directory.

mod connection;
mod disk_space;
mod errors;
mod fragments;
mod open;
#[cfg(test)]
pub(super) mod plans;
mod row;
mod search;
mod settings;
mod snapshot;

pub(super) use open::Sqlite;
