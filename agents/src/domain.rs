//! The types of agents, one folder for each noun: agents with their drafts, runs, conversations, and items of the Library. They know
//! neither SQL nor HTTP.

pub mod agent_runs;
pub mod agents;
pub mod conversations;
pub mod library;
