//! Tests of the public interface. Each test has its own data directory.

mod accounts;
mod answers;
mod api_keys;
mod artifact_buckets;
mod artifacts;
mod attestations;
#[path = "../../../tests/harness/bucket.rs"]
mod bucket;
mod callables;
mod cluster;
mod conditions;
mod constraints;
mod data_dir;
mod database;
mod fixtures;
mod group_commit;
mod health;
mod history;
mod insert_only;
mod isolation;
mod leases;
mod lists;
#[path = "../../../tests/harness/need.rs"]
mod need;
mod nul;
mod objects;
mod old_journal;
mod operations;
mod orders;
mod pages;
mod postgres;
mod properties;
mod race;
mod repositories;
mod roles;
mod schemas;
mod search;
mod search_scan;
mod search_texts;
mod secrets;
mod tapes;
mod tools;
mod transfer;
mod users;
mod variables;
mod versions;
