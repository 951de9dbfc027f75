//! Statements about the servers of a database.

pub(in crate::store) mod node;

pub use node::Nodes;
