//! The guard in front of a route that is not public.

use axum::extract::{FromRequestParts, Request};
use registry::{Permission, Store};

use super::auth_request::AuthRequest;
use super::caller::Caller;
use super::check::AccessCheck;
use super::recheck::rechecked;
use super::resource::ResourceKind;
use crate::error::Error;
use crate::extract::QueryParameters;
use crate::request_identity::RequestIdentity;

/// Checks the requests of one route before its handler.
pub(crate) struct Guard {
    access: AccessCheck,
    kind: ResourceKind,
}

impl Guard {
    /// Creates the guard of the route with this path.
    pub(crate) fn new(store: Store, permission: Permission, path: &str) -> Self {
        Self { access: AccessCheck { store, permission }, kind: ResourceKind::of(path) }
    }

    /// Returns the request with its [`Caller`] if credentials, organisation and permission are right.
    pub(crate) async fn admit(&self, request: Request) -> Result<Request, Error> {
        let (mut parts, body) = request.into_parts();
        let asked = AuthRequest::read(&mut parts, self.kind).await;
        let principal = self.access.check(&asked).await?;
        if let Some(identity) = parts.extensions.get::<RequestIdentity>() {
            identity.set(&principal);
        }
        // Bounds the query of every operation, also of one that reads nothing from it.
        QueryParameters::from_request_parts(&mut parts, &()).await?;
        let body = rechecked(self.access.clone(), asked, body);
        parts.extensions.insert(Caller(principal));
        Ok(Request::from_parts(parts, body))
    }
}
