//! Rate limits: so many requests a minute for each user and operation. Off by default.
//!
//! A user may use a whole minute's requests at once; they come back one by one, evenly. The answers of a limited
//! operation say how many are left. A request that is refused uses none up.
//!
//! Signing in is limited by the names that the request gives, which nobody has checked yet, and by where it comes from,
//! in a table of its own.

mod allowance;
mod limits;
mod table;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract;
use crate::metrics;
use crate::server::Peer;
use allowance::{Allowance, Verdict};
pub use limits::{RateLimits, UnknownOperation};
use table::{Key, Table};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Who has used how much.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    callers: Table,
    sign_ins: Table,
}

/// What the limit of one route needs.
#[derive(Clone)]
struct Limited {
    app: App,
    operation: &'static str,
    allowance: Allowance,
}

/// Puts the limit of a route, if it has one, before its handler and behind its guard.
pub(crate) fn limited(app: &App, operation: &'static str, handler: MethodRouter<App>) -> MethodRouter<App> {
    let Some(per_minute) = app.config().rate_limits.of(operation) else { return handler };
    let limited = Limited { app: app.clone(), operation, allowance: Allowance::per_minute(per_minute) };
    handler.route_layer(from_fn_with_state(limited, admit))
}

async fn admit(State(limited): State<Limited>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let verdict = match parts.extensions.get::<Caller>().map(|Caller(principal)| Key::of(limited.operation, principal))
    {
        Some(caller) => limited.take(&limited.app.usage().callers, caller),
        None => {
            let organization = extract::parameter(&mut parts, &limited.app, "organization").await.unwrap_or_default();
            let peer = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
            let key = Key::named(limited.operation, [&organization, named_user(&parts.headers)], peer);
            limited.take(&limited.app.usage().sign_ins, key)
        }
    };
    let mut response = match verdict.retry_after {
        None => next.run(Request::from_parts(parts, body)).await,
        Some(retry_after) => {
            metrics::rate_limited(limited.operation);
            Error::RateLimited { per_minute: limited.allowance.requests(), retry_after }.into_response()
        }
    };
    let numbers = [(LIMIT, u64::from(verdict.limit)), (REMAINING, verdict.remaining.into()), (RESET, verdict.reset)];
    response.headers_mut().extend(numbers.map(|(name, number)| (name, HeaderValue::from(number))));
    response
}

impl Limited {
    fn take(&self, table: &Table, key: Key) -> Verdict {
        table.take(key, self.allowance, self.app.clock().now())
    }
}

fn named_user(headers: &HeaderMap) -> &str {
    headers.get("x-user-id").and_then(|value| value.to_str().ok()).unwrap_or_default()
}
