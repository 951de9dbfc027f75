//! Who is asking, and may they: the one check in front of every route that is not public, whatever the form of the
//! credentials.
//!
//! 1. No credentials, or wrong ones: 401, in whichever path.
//! 2. Credentials of another organisation than the path's (or than `X-ORG-ID`): 404, the same for an organisation that
//!    exists, for one that does not, and for an unknown id. The path's organisation is only compared, never looked up.
//! 3. The right user without the route's permission: 403 ([`permit`]).
//!
//! Handlers receive the [`Caller`] and cannot be reached without one. While a body is on its way the check is repeated
//! ([`watched`]).

mod asking;
mod credentials;
mod permit;
mod watched;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use registry::{Permission, Principal};

use crate::app::App;
use crate::error::Error;
use crate::extract::Parameters;
use crate::openapi::{Inputs, Reads};
use crate::trail;
use asking::Asking;
use permit::Subject;
pub(crate) use permit::{require_for_all, require_for_run, require_for_tool};
pub(crate) use watched::RightsEnded;

/// The signed-in user of a request, with the permission of its route checked.
#[derive(Clone)]
pub(crate) struct Caller(pub(crate) Principal);

/// Credentials are described once for all routes that have a permission.
impl Reads for Caller {
    fn reads(_: &mut Inputs) {}
}

/// What a route's guard needs.
#[derive(Clone)]
pub(crate) struct Guard {
    app: App,
    permission: Permission,
    subject: Subject,
}

impl Guard {
    /// The guard of the route with this path.
    pub(crate) fn new(app: App, permission: Permission, path: &str) -> Self {
        Self { app, permission, subject: Subject::of(path) }
    }

    /// Lets a request through to its handler when its credentials, organisation and permission are right.
    pub(crate) async fn admit(&self, request: Request) -> Result<Request, Error> {
        let (mut parts, body) = request.into_parts();
        let asking = Asking::read(&mut parts, self.subject).await;
        let principal = check(self, &asking).await?;
        trail::identified(&parts.extensions, &principal);
        // Every operation bounds its query, also one that reads nothing from it.
        Parameters::from_request_parts(&mut parts, &()).await?;
        let body = watched::watched(self, asking, body);
        parts.extensions.insert(Caller(principal));
        Ok(Request::from_parts(parts, body))
    }
}

async fn check(guard: &Guard, asking: &Asking) -> Result<Principal, Error> {
    let principal = identify(&guard.app, asking).await?;
    permit::check(guard, &principal, &asking.about).await?;
    Ok(principal)
}

async fn identify(app: &App, asking: &Asking) -> Result<Principal, Error> {
    let credentials = asking.credentials.as_ref().ok_or(Error::Unauthenticated)?;
    let principal = app.store().authenticate(credentials.id_token()).await?;
    let principal = principal.filter(|principal| credentials.name(principal)).ok_or(Error::Unauthenticated)?;
    let is_own = asking.organization.as_deref() == Some(principal.organization.as_str());
    if is_own { Ok(principal) } else { Err(Error::NotFound) }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Error::Internal { detail: "a handler that needs a caller is on a public route".into() })
    }
}
