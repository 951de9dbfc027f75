//! The HTTP door of Lathe: requests in, JSON (or an event stream, or git's packets) out.
//!
//! [`router`] lists every route with the permission it needs; [`App`] holds what the handlers use; [`Server`] is the
//! accept loop. Domain rules live further in: a handler parses at the border, calls one use case and renders.

mod app;
mod auth;
mod config;
mod ending;
mod error;
mod extract;
mod head;
mod metrics;
mod openapi;
mod rate;
mod readiness;
mod request_id;
mod router;
mod routes;
mod server;
mod trail;
mod work;

pub use app::{App, Parts};
pub use config::Config;
pub use error::{Error, Kind};
pub use extract::{Place, Problem};
pub use metrics::describe_metrics;
pub use openapi::openapi_document;
pub use rate::{RateLimits, UnknownOperation};
pub use readiness::Readiness;
pub use router::{Route, RouteRefused, router, routes};
pub use server::{BodyLimits, ConnectionLimits, Server, ServerError};
