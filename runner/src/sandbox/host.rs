//! The host side of a run: every capability that a tool has is here.
//!
//! `state` holds the state of one run and the other files hold its parts. `calls` implements the imported functions,
//! and `linker` links them.

mod calls;
mod cpu;
mod environment;
mod host_call;
mod http;
mod linker;
mod live_clock;
mod log;
mod log_messages;
mod random;
mod state;
mod status;
mod times;

pub use linker::build_linker;
pub use state::{Host, HostSettings};
