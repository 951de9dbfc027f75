//! The OpenAPI document: what it looks like, and that it is true.

mod against_contract;
mod bodies;
mod generate;
mod marks;
mod queries;
mod shape;
