//! The API in process, over a real store in a temporary directory.
//!
//! The end-to-end tests cover built tools and the real `git`; these tests cover routing, responses and errors.

mod agent_calls;
mod agent_tools;
mod agents;
mod api_keys;
mod bodies;
mod bounds;
mod builds;
mod conditions;
#[path = "../../../tests/harness/document.rs"]
mod document;
mod drain;
mod fixtures;
mod git;
mod harness;
mod health;
mod invocations;
mod isolation;
mod lists;
mod matrix;
mod openapi;
mod operations;
mod parts;
mod permissions;
mod rate;
mod reference;
mod roles;
mod server;
mod sign_in;
mod slow;
mod streams;
mod table;
mod tools;
mod users;
mod validation;
mod variables;
mod versions;
