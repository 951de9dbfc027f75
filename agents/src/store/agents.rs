//! Statements about agents: drafts, states, assignments and revisions.

pub(super) mod agent;
mod assignments;
pub(super) mod edit;
mod handle;
mod list;
mod revisions;
mod running;
pub(super) mod states;

pub use handle::Agents;
