//! The statements, by district. Their text comes from the program and values are bound. They are the same for every database,
//! but for the fragments in braces ([`super::database`]).

mod access;
pub(super) mod agent_runs;
mod agents;
mod conversations;
pub(super) mod group;
pub(super) mod history;
pub(super) mod kit;
pub(super) mod library;
pub(super) mod nodes;
mod operations;
mod repositories;
mod tools;
mod versions;

pub use access::{Access, CountedRequest};
pub use agent_runs::AgentRuns;
pub use agents::Agents;
pub use conversations::Conversations;
pub use history::History;
pub use library::{Advance, AdvancedItem, DueRun, EndedRun, Library, Report};
pub use nodes::Nodes;
pub use operations::{Operations, RequestedCancellation};
pub use repositories::Repositories;
pub use tools::Tools;
pub use versions::Versions;
