//! The HTTP API of Lathe: requests in; JSON, event streams or git's packets out.
//!
//! [`build_router`] has every route with the permission it needs, [`App`] is the state of the handlers, and [`Server`] accepts
//! connections. Domain rules are in the other crates: a handler parses, calls one use case and renders.
//!
//! The modules are listed in layers, the lowest first. A module imports from its own layer and from lower ones, without cycles.
//! What every operation needs is in `api_kit`, MCP and OAuth are in `mcp`.

#![forbid(unsafe_code)]

// The sections of the reference, and the JSON of requests and responses.
mod sections;
pub mod wire;

// What operations share: the settings, and work that outlives a request.
mod config;
mod readiness;
mod tool_formats;
mod work;

// The operations.
mod app;
mod routes;
mod take_over;
mod tool_routes;

// The route table, and the server of the whole API.
mod router;
mod serve;

pub use api_kit::error::{Error, Kind, LocationStep, Problem};
pub use api_kit::in_progress::{RequestBounds, Work, WorkBounds};
pub use api_kit::public_url::{PublicUrl, PublicUrlInvalid};
pub use api_kit::rate::RateLimits;
pub use api_kit::server::{BodyLimits, ConnectionLimits, ListenError, Server, TrustedProxies};
pub use app::{App, Parts};
pub use config::Config;
pub use mcp::{MCP_METHODS, McpMethod};
pub use readiness::Readiness;
pub use router::{
    Bounds, RequestBound, ResponseBound, Route, RouteRefused, UnknownOperation, build_openapi_document, build_router,
    find_operation, list_routes,
};
pub use routes::agent_runs::take_over::take_over_agent_runs;
pub use routes::versions::take_over::take_over_publications;
pub use serve::{describe_metrics, serve};
