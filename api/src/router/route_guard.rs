//! The checks that a request passes between the request log and its handler: the guard of a route that is not public,
//! and the rate limit of its operation; and the bound of its response.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::bounds::{self, ResponseBound};
use crate::auth::Guard;
use crate::error::Error;
use crate::rate::Limit;

/// The checks in front of one handler.
pub(super) struct RouteGuard {
    /// `None` for public routes.
    pub(super) guard: Option<Guard>,
    pub(super) limit: Option<Limit>,
    /// `None` only for a table without bounds, which is not served.
    pub(super) response: Option<ResponseBound>,
}

/// The middleware of each route.
pub(super) async fn guarded(
    State(route): State<Arc<RouteGuard>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Error> {
    if let Some(guard) = &route.guard {
        request = guard.admit(request).await?;
    }
    let response = match &route.limit {
        Some(limit) => limit.admit(request, next).await,
        None => next.run(request).await,
    };
    match route.response {
        Some(bound) => bounds::checked(response, bound),
        None => Ok(response),
    }
}
