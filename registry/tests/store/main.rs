//! Tests of the public interface. Each test has its own data directory.

mod accounts;
mod agent_calls;
mod allowed_client;
mod answered_attempts;
mod answers;
mod api_keys;
mod artifact_buckets;
mod artifacts;
mod attestations;
#[path = "../../../tests/harness/bucket.rs"]
mod bucket;
mod build_queue;
mod callables;
mod cluster;
mod conditions;
mod constraints;
mod data_dir;
#[expect(dead_code, reason = "the tests of the tables of agents use the whole of it")]
mod database;
mod effect_lists;
#[expect(dead_code, reason = "the tests of the tables of agents use the whole of it")]
mod fixtures;
mod group_commit;
mod health;
mod history;
mod isolation;
mod leases;
mod lists;
mod many_runs;
#[path = "../../../tests/harness/need.rs"]
mod need;
mod nodes;
mod nul;
mod oauth;
mod objects;
mod on_postgres;
mod operations;
mod orders;
mod pages;
mod pages_under_inserts;
mod postgres;
mod postgres_tls;
mod properties;
mod race;
mod recordings;
mod relay;
mod repositories;
mod retention;
mod roles;
mod schemas;
mod search;
mod search_filters;
mod search_scan;
mod search_texts;
mod secrets;
mod tapes;
mod tools;
mod user_variables;
mod users;
mod vanished_host;
mod variables;
mod versions;
