//! The statements, by district. Their text comes from the program and values are bound. They are the same for every database,
//! but for the fragments in braces ([`super::database`]).

pub(super) mod access;
pub(super) mod group;
pub(super) mod history;
pub(super) mod kit;
pub(super) mod nodes;
mod operations;
mod repositories;
mod tools;
pub(super) mod versions;

pub use access::{Access, CountedRequest};
pub use history::History;
pub use nodes::Nodes;
pub use operations::{Operations, RequestedCancellation};
pub use repositories::Repositories;
pub use tools::Tools;
pub use versions::Versions;
