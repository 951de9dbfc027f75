//! Who is asking, and may they: the one check in front of every route that is not public.
//!
//! Credentials are valid in one organisation. In the path of another one they are as good as none, whether that
//! organisation exists or not. Handlers receive the [`Caller`] and cannot be reached without one.

mod credentials;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use registry::{OrganizationId, Permission, Principal};

use crate::app::App;
use crate::error::Error;
use crate::extract;
use credentials::Credentials;

/// The signed-in user of a request, with the permission of its route checked.
#[derive(Clone)]
pub(crate) struct Caller(pub(crate) Principal);

/// What a route's guard needs.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) app: App,
    pub(crate) permission: Permission,
}

/// Lets a request through to its handler when its credentials, organisation and permission are right.
pub(crate) async fn admit(State(guard): State<Guard>, request: Request, next: Next) -> Result<Response, Error> {
    let (mut parts, body) = request.into_parts();
    let principal = identify(&guard.app, &mut parts).await?;
    if !principal.may(guard.permission) {
        return Err(Error::Forbidden { permission: guard.permission });
    }
    parts.extensions.insert(Caller(principal));
    Ok(next.run(Request::from_parts(parts, body)).await)
}

async fn identify(app: &App, parts: &mut Parts) -> Result<Principal, Error> {
    let credentials = Credentials::read(&parts.headers).ok_or(Error::Unauthenticated)?;
    let organization = extract::parameter(parts, app, "organization").await?;
    let organization = OrganizationId::parse(&organization).map_err(|_| Error::Unauthenticated)?;
    let principal = app.store().authenticate(&organization, credentials.id_token()).await?;
    let named = principal.filter(|principal| credentials.name(principal));
    named.ok_or(Error::Unauthenticated)
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Error::Internal { detail: "a handler that needs a caller is on a public route".into() })
    }
}
