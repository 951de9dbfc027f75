//! States of agents, and turns of conversations: the tools that a turn presents, and calls of these tools, over HTTP and by MCP.

mod command;
mod persistence;
mod presented;
mod record;
mod specs;
mod system;
pub mod talk;
mod unknown;
