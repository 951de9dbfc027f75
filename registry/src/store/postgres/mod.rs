//! Postgres, for several servers or for a team that runs it already.

mod connection;
mod errors;
mod fragments;
mod months;
mod notices;
mod open;
mod requirements;
mod row;
mod search;
mod settings;
mod statistics;
mod writing;

pub(super) use months::create_month_of;
pub(super) use open::Postgres;

#[cfg(test)]
pub(super) mod tests;
