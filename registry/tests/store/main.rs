//! The store and what lies beside it, through the public interface, each test with a data directory of its own.

mod accounts;
mod answers;
mod api_keys;
mod artifacts;
mod callables;
mod conditions;
mod constraints;
mod data_dir;
mod fixtures;
mod group_commit;
mod health;
mod history;
mod insert_only;
mod isolation;
mod leases;
mod operations;
mod pages;
mod properties;
mod roles;
mod search;
mod secrets;
mod tapes;
mod tools;
mod users;
mod variables;
mod versions;
