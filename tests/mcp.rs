//! The tools of agents for MCP clients.

mod access;
mod calls;
mod changes;
pub mod client;
mod command;
mod lists;
mod sessions;
mod stream;
mod transport;
