//! Conversations of users with agents, and their turns.

mod conversation;
mod turn;

pub use conversation::{Conversation, NewConversation, Simulation};
pub use turn::{NewTurn, PresentedTool, RunStatus, RunStatusEnd, Turn, TurnPlace};
