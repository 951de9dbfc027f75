//! What agents are made of, by noun: agents with their drafts, runs, conversations, items of the Library. These types know neither SQL
//! nor HTTP.

pub mod agent_runs;
pub mod agents;
pub mod conversations;
pub mod library;
