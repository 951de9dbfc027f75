//! Tests of the tables of agents, and of the whole database with rows in every table. Each test has its own data directory.

mod agent_revisions;
mod agent_runs;
mod agent_states;
mod agents;
#[path = "../../../registry/tests/store/allowed_client.rs"]
mod allowed_client;
#[path = "../../../registry/tests/store/cluster.rs"]
#[expect(dead_code, reason = "the tests of other tables use the whole of it")]
mod cluster;
#[path = "../../../registry/tests/store/database.rs"]
mod database;
mod due_items;
#[path = "../../../tests/harness/embedding_endpoint.rs"]
mod embedding_endpoint;
mod embeddings;
#[path = "../../../registry/src/store/tests/expansion.rs"]
mod expansion;
#[path = "../../../registry/tests/store/fixtures.rs"]
#[expect(dead_code, reason = "the tests of other tables use the whole of it")]
mod fixtures;
mod human_requests;
mod identities;
mod insert_only;
mod library;
mod library_revisions;
mod library_usage;
mod memory_search;
#[path = "../../../registry/tests/store/on_postgres.rs"]
mod on_postgres;
mod postgres;
mod run_ends;
#[path = "../../../registry/src/store/tests/statements.rs"]
mod statements;
mod statements_of_agents;
mod transfer;
mod turns;
mod world;
