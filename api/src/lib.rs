//! The HTTP API of Lathe: requests in; JSON, event streams or git's packets out.
//!
//! [`router`] has every route with the permission it needs, [`App`] is the state of the handlers, and [`Server`] accepts
//! connections. Domain rules are in the other crates: a handler parses, calls one use case and renders.
//!
//! The modules are listed in layers, the lowest first. A module imports from its own layer and from lower ones, without cycles.
//! The lowest layer is the kit, which knows nothing of agents, the Library, MCP and OAuth.

#![forbid(unsafe_code)]

// The kit: connections, readers of requests, errors and the OpenAPI document.
mod body_bounds;
mod body_end;
mod error;
mod event_lines;
mod extract;
mod head_limits;
mod metrics;
mod openapi;
mod public_url;
mod request_id;
mod response_headers;
mod server;

// The JSON of requests and responses.
pub mod wire;

// What all operations share: the caller, the limits and the log of a request, and work that outlives it.
mod agent_errors;
mod auth;
mod call_depth;
mod caller;
mod caller_names;
mod config;
mod in_progress;
mod rate;
mod readiness;
mod request_identity;
mod request_log;
mod tasks;
mod work;

// Protocols and formats.
mod mcp;
mod oauth;
mod tool_formats;

// The operations.
mod app;
mod routes;
mod take_over;
mod tool_routes;

// The route table, and the server of the whole API.
mod router;
mod serve;

pub use app::{App, Parts};
pub use config::Config;
pub use error::{Error, Kind, LocationStep, Problem};
pub use in_progress::{RequestBounds, Work, WorkBounds};
pub use mcp::{MCP_METHODS, McpMethod};
pub use public_url::{PublicUrl, PublicUrlInvalid};
pub use rate::{RateLimits, UnknownOperation};
pub use readiness::Readiness;
pub use router::{Bounds, RequestBound, ResponseBound, Route, RouteRefused, openapi_document, router, routes};
pub use routes::agent_runs::take_over::take_over_agent_runs;
pub use routes::versions::take_over::take_over_publications;
pub use serve::describe_metrics;
pub use server::{BodyLimits, ConnectionLimits, ListenError, Server, TrustedProxies};
