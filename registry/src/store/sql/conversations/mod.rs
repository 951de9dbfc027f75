//! Statements about conversations, their logs and their turns.

mod conversation;
mod log;
mod turns;
