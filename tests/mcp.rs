//! The tools of agents for MCP clients.

mod access;
mod calls;
mod changes;
pub mod client;
mod command;
mod lists;
mod oauth;
mod question_languages;
mod questions;
mod session_questions;
mod sessions;
mod stream;
mod transport;
