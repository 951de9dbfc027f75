//! Statements about agents: drafts, states, assignments and revisions.

pub(super) mod agent;
mod assignments;
pub(super) mod edit;
mod list;
mod revisions;
mod running;
pub(super) mod states;
