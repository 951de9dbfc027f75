//! SQLite, the database in the data directory.

mod connection;
mod disk_space;
mod errors;
mod fragments;
mod open;
mod row;
mod search;
mod settings;
mod snapshot;

pub(super) use open::Sqlite;

#[cfg(test)]
pub(super) mod tests;
