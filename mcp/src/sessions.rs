//! Sessions of clients of earlier protocol versions.

mod client_sessions;
pub mod metrics;
mod session_table;

pub use client_sessions::{INITIALIZE, SESSION, SessionPlace, Sessions};
pub use metrics::describe_metrics;
