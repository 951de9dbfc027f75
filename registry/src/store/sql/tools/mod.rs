//! Statements about tools, their variables, and the number of their changes.

mod compared_changes;
pub(super) mod edit;
mod envvars;
mod handle;
mod list;
pub(super) mod tool;
pub(super) mod tool_changes;
pub(super) mod variables;

pub use handle::Tools;
