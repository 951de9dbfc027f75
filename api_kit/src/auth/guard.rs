//! The guard in front of a route that is not public.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use registry::{Permission, Principal, Store};

use super::auth_request::{AuthRequest, RequestSubject};
use super::check::{AccessCheck, Bearers};
use super::recheck::recheck_body;
use super::resource::ResourceRef;
use super::rights::Rights;
use crate::caller::Caller;
use crate::error::Error;
use crate::extract::QueryParameters;
use crate::public_url::PublicBase;
use crate::rate::{KeyCheck, KeyLimit};
use crate::request_identity::RequestIdentity;
use crate::server::Peer;

/// Checks the requests of one route before its handler.
pub struct Guard {
    access: AccessCheck,
    subject: RequestSubject,
    /// The base of the URLs that access tokens are for; `None` where none are accepted.
    public: Option<PublicBase>,
    /// `None` when signing in has no limit.
    key_limit: Option<Arc<KeyLimit>>,
}

impl Guard {
    /// Creates the guard of the route with this path, which accepts id tokens and API keys as bearer.
    pub fn new(store: Store, permission: Permission, path: &str) -> Self {
        let access = AccessCheck { store, permission, bearers: Bearers::OfUsers };
        Self { access, subject: RequestSubject::of(path), public: None, key_limit: None }
    }

    /// Sets the secrets that the route accepts as bearer, and the base of the URLs that access tokens are for.
    pub fn accepting(mut self, bearers: Bearers, public: PublicBase) -> Self {
        self.access.bearers = bearers;
        self.public = (bearers == Bearers::OfMcpClients).then_some(public);
        self
    }

    /// Counts checks of API keys as sign-ins.
    pub fn with_key_limit(self, key_limit: Option<Arc<KeyLimit>>) -> Self {
        Self { key_limit, ..self }
    }

    /// Returns the request with its [`Caller`] if credentials, organisation and permission are right.
    pub async fn admit(&self, request: Request) -> Result<Request, Error> {
        let (mut parts, body) = request.into_parts();
        let asked = AuthRequest::read(&mut parts, self.subject, self.public.as_ref()).await;
        let checked = self.access.check(&asked).await;
        let address = Peer::of(&parts.extensions);
        self.count_key(&asked, KeyCheck::new(address, &checked)).await?;
        let principal = Principal { address, ..checked? };
        if let Some(identity) = parts.extensions.get::<RequestIdentity>() {
            identity.set(&principal);
            match &asked.resource {
                ResourceRef::Tool(tool) => identity.set_tool(tool),
                ResourceRef::Invocation(run) => identity.set_run(run),
                ResourceRef::ToolName(_) | ResourceRef::None => {}
            }
        }
        // Bounds the query of every operation, also of one that reads nothing from it.
        QueryParameters::from_request_parts(&mut parts, &()).await?;
        let rights = Rights::new(self.access.clone(), asked);
        let body = recheck_body(rights.clone(), body);
        parts.extensions.insert(rights);
        parts.extensions.insert(Caller(principal));
        Ok(Request::from_parts(parts, body))
    }

    async fn count_key(&self, asked: &AuthRequest, check: KeyCheck) -> Result<(), Error> {
        let (Some(limit), Some(credentials)) = (&self.key_limit, &asked.credentials) else { return Ok(()) };
        let organization = asked.organization.in_path.as_deref().unwrap_or_default();
        let Some(key) = credentials.key() else { return Ok(()) };
        limit.count(organization, credentials.user(organization), key.as_str(), check).await
    }
}
