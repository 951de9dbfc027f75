//! Statements about runs of agents, and their requests to people.

mod handle;
mod human_requests;
pub(in crate::store) mod list;
pub(super) mod run;

pub use handle::AgentRuns;
