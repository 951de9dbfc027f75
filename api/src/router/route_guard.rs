//! The checks that a request passes between the request log and its handler: the guard of a route that is not public,
//! and the rate limit of its operation.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::auth::Guard;
use crate::error::Error;
use crate::rate::Limit;

/// The checks in front of one handler.
pub(super) struct RouteGuard {
    /// `None` for public routes.
    pub(super) guard: Option<Guard>,
    pub(super) limit: Option<Limit>,
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
    Ok(match &route.limit {
        Some(limit) => limit.admit(request, next).await,
        None => next.run(request).await,
    })
}
