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

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract;
use crate::metrics;
use crate::router::Handle;
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

/// The limit of one route, before its handler and behind its guard.
pub(crate) struct Limit {
    app: App,
    operation: &'static str,
    allowance: Allowance,
}

impl Limit {
    /// The one that an operation has, if it has one.
    pub(crate) fn of(app: &App, operation: &'static str) -> Option<Self> {
        let per_minute = app.config().rate_limits.of(operation)?;
        Some(Self { app: app.clone(), operation, allowance: Allowance::per_minute(per_minute) })
    }

    /// Has a request handled, or refused.
    pub(crate) async fn admit(&self, request: Request, handle: Handle) -> Response {
        let (mut parts, body) = request.into_parts();
        let verdict = self.verdict(&mut parts).await;
        let mut response = match verdict.retry_after {
            None => handle(Request::from_parts(parts, body)).await,
            Some(retry_after) => {
                metrics::rate_limited(self.operation);
                Error::RateLimited { per_minute: self.allowance.requests(), retry_after }.into_response()
            }
        };
        let numbers =
            [(LIMIT, u64::from(verdict.limit)), (REMAINING, verdict.remaining.into()), (RESET, verdict.reset)];
        response.headers_mut().extend(numbers.map(|(name, number)| (name, HeaderValue::from(number))));
        response
    }

    async fn verdict(&self, parts: &mut Parts) -> Verdict {
        let usage = self.app.usage();
        if let Some(Caller(principal)) = parts.extensions.get() {
            return self.take(&usage.callers, Key::of(self.operation, principal));
        }
        let organization = extract::parameter(parts, &self.app, "organization").await.unwrap_or_default();
        let peer = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
        let key = Key::named(self.operation, [&organization, named_user(&parts.headers)], peer);
        self.take(&usage.sign_ins, key)
    }

    fn take(&self, table: &Table, key: Key) -> Verdict {
        table.take(key, self.allowance, self.app.clock().now())
    }
}

fn named_user(headers: &HeaderMap) -> &str {
    headers.get("x-user-id").and_then(|value| value.to_str().ok()).unwrap_or_default()
}
