//! The servers of a database.

mod node;

pub use node::{Node, NodeDescription};
