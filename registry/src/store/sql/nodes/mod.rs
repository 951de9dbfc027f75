//! Statements about the servers of a database.

mod handle;
pub(in crate::store) mod node;

pub use handle::Nodes;
