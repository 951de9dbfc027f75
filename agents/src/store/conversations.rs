//! Statements about conversations, their logs and their turns.

mod conversation;
mod handle;
mod log;
mod turns;

pub use handle::Conversations;
