//! What every operation of the HTTP API needs, whatever it does: connections, readers of requests, errors, the OpenAPI document,
//! authorisation, limits and the log of requests.
//!
//! The modules are listed in layers, the lowest first. A module imports from its own layer and from lower ones, without cycles.
//! The lowest layer knows nothing of agents, the Library, MCP and OAuth.

#![forbid(unsafe_code)]

// Connections, readers of requests, errors and the OpenAPI document.
pub mod body_bounds;
pub mod body_end;
pub mod error;
pub mod event_lines;
pub mod extract;
mod head_limits;
pub mod metrics;
pub mod openapi;
pub mod public_url;
pub mod request_id;
pub mod response_headers;
pub mod server;

// The caller, the limits and the log of a request, and tasks that outlive it.
mod agent_errors;
pub mod auth;
pub mod call_depth;
pub mod caller;
pub mod caller_names;
pub mod in_progress;
pub mod rate;
pub mod request_identity;
pub mod request_log;
pub mod tasks;
pub mod text_types;
