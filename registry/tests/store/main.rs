//! The store and what lies beside it, through the public interface, each test with a data directory of its own.

mod accounts;
mod artifacts;
mod constraints;
mod data_dir;
mod fixtures;
mod group_commit;
mod history;
mod insert_only;
mod isolation;
mod leases;
mod pages;
mod properties;
mod search;
mod secrets;
mod tools;
mod variables;
mod versions;
