//! The tools, prompts and resources of agents for MCP clients.

mod access;
mod calls;
mod changes;
pub mod client;
mod command;
mod lists;
mod oauth;
mod plain_calls;
mod prompts;
mod question_languages;
pub mod questions;
mod resources;
mod schema_roots;
mod session_bounds;
mod session_questions;
pub mod sessions;
mod skills;
mod stream;
mod tasks;
mod tool_forms;
mod transport;
