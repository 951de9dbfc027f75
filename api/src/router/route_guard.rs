//! The checks that a request passes between the request log and its handler: the guard of a route that is not public,
//! the bound of requests in progress, and the rate limit of its operation; and the bound of its response.

use std::sync::Arc;

use api_kit::auth::Guard;
use api_kit::body_bounds::{BodyBound, BodyBudget, BodyOwner};
use api_kit::body_end::attach_end;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::in_progress::{RequestAdmission, RequestPermit};
use api_kit::rate::Limit;
use api_kit::server::{Peer, find_client};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::bounds::{self, ResponseBound};

/// The checks in front of one handler.
pub(super) struct RouteGuard {
    /// `None` for public routes.
    pub(super) guard: Option<Guard>,
    /// `None` for probes of health, which are answered in any case.
    pub(super) requests: Option<RequestAdmission>,
    pub(super) limit: Option<Limit>,
    /// The bytes of all bodies, and the bound of one.
    pub(super) body: (BodyBudget, BodyBound),
    /// `None` only for a table without bounds, which is not served.
    pub(super) response: Option<ResponseBound>,
}

/// The middleware of each route.
pub(super) async fn guard_route(
    State(route): State<Arc<RouteGuard>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Error> {
    let mut permit = route.admit_address(&request)?;
    if let Some(guard) = &route.guard {
        request = guard.admit(request).await?;
        permit = route.admit_user(&mut request)?;
    }
    let request = route.bound_body(request);
    let response = match &route.limit {
        Some(limit) => limit.admit(request, next).await,
        None => next.run(request).await,
    };
    let response = match route.response {
        Some(bound) => bounds::check_size(response, bound)?,
        None => response,
    };
    Ok(match permit {
        Some(permit) => attach_end(response, permit),
        None => response,
    })
}

impl RouteGuard {
    /// Admits a request whose credentials are not checked.
    fn admit_address(&self, request: &Request) -> Result<Option<Arc<RequestPermit>>, Error> {
        let address = self.requests.as_ref().zip(Peer::of(request.extensions()));
        address.map(|(requests, address)| requests.admit_address(address)).transpose()
    }

    /// Bounds the body, which counts for the organisation of the caller or for the address of the client.
    fn bound_body(&self, request: Request) -> Request {
        let (parts, body) = request.into_parts();
        let (budget, bound) = &self.body;
        let owner = match parts.extensions.get::<Caller>() {
            Some(Caller(caller)) => BodyOwner::Organization(caller.organization.clone()),
            None => BodyOwner::Address(Peer::of(&parts.extensions).map(find_client)),
        };
        let body = budget.bound_body(&parts.headers, body, *bound, owner);
        Request::from_parts(parts, body)
    }

    /// Admits an authorised request, which counts for its user and organisation from now on.
    fn admit_user(&self, request: &mut Request) -> Result<Option<Arc<RequestPermit>>, Error> {
        let Some((requests, Caller(caller))) = self.requests.as_ref().zip(request.extensions().get::<Caller>()) else {
            return Ok(None);
        };
        let permit = requests.admit_user(caller)?;
        request.extensions_mut().insert(permit.admit_streams());
        Ok(Some(permit))
    }
}
