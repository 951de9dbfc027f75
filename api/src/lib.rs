//! The HTTP API of Lathe: requests in; JSON, event streams or git's packets out.
//!
//! [`router`] has every route with the permission it needs, [`App`] is the state of the handlers, and [`Server`] accepts
//! connections. Domain rules are in the other crates: a handler parses, calls one use case and renders.

mod app;
mod auth;
mod body_bounds;
mod body_end;
mod call_depth;
mod caller;
mod caller_names;
mod config;
mod error;
mod event_lines;
mod extract;
mod head_limits;
mod id_schema;
mod in_progress;
mod mcp;
mod metrics;
mod oauth;
mod openapi;
mod public_url;
mod rate;
mod readiness;
mod request_id;
mod request_identity;
mod request_log;
mod response_headers;
mod router;
mod routes;
mod serve;
mod server;
mod take_over;
mod tasks;
mod tool_formats;
mod tool_routes;
pub mod wire;
mod work;

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
