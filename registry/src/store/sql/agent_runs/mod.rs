//! Statements about runs of agents, and their requests to people.

mod human_requests;
pub(in crate::store) mod list;
pub(super) mod run;
