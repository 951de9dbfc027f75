//! Calls of tools: one run for each, with its questions and answers, as a task or within a turn.

mod abilities;
mod calling;
mod dialogue;
mod events;
mod exposure;
mod listing;
mod request_state;
mod result;
mod scope;
mod session_questions;
mod tasks;
mod tool_call_request;
mod turns;

pub use calling::{Asked, Calling, CallingClient, build_call, is_fault, log_fault};
pub use dialogue::Dialogues;
pub use events::EventRelay;
pub use exposure::{Called, Exposed};
pub use listing::{build_meta, find_title, render_tool};
pub use request_state::BoundCall;
pub use result::{ERROR, INVOCATION, TRUSTED, fit_version};
pub use scope::{Scope, Viewpoint};
pub use tasks::Tasks;
pub use tool_call_request::ToolCallRequest;
pub use turns::{call_in_turn, find_turn};
