//! The OpenAPI document: its contents, and its agreement with the server.

mod against_contract;
mod bodies;
mod bounds;
mod generate;
mod lists;
mod marks;
mod queries;
mod shape;
mod snapshots;
