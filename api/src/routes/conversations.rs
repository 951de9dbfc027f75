//! Conversations with agents, and their turns: the tools that each presents, and calls of these tools.

pub(crate) mod begin_turn;
pub(crate) mod end;
pub(crate) mod invoke;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod show;
pub(crate) mod show_turn;
pub(crate) mod start;
mod system_tools;
