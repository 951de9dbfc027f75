//! The check of a request's credentials, organisation and permission.

use registry::{Permission, Principal, Store};

use super::auth_request::AuthRequest;
use super::permit::Requirement;
use crate::error::Error;

/// Checks the requests of one route.
#[derive(Clone)]
pub(super) struct AccessCheck {
    pub(super) store: Store,
    pub(super) permission: Permission,
    pub(super) bearers: Bearers,
}

/// The secrets that a route accepts as bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearers {
    /// Id tokens and API keys.
    OfUsers,
    /// Those of users, and access tokens for the URL of the request, for MCP clients. They learn where the resource is described.
    OfMcpClients,
}

impl AccessCheck {
    pub(super) async fn check(&self, request: &AuthRequest) -> Result<Principal, Error> {
        let principal = self.identify(request).await?;
        let requirement = Requirement { principal: &principal, permission: self.permission };
        requirement.require_for_read_tool(request.resource.find_tool(&self.store, &principal)).await?;
        Ok(principal)
    }

    async fn identify(&self, request: &AuthRequest) -> Result<Principal, Error> {
        let credentials = request.credentials.as_ref().ok_or(Error::Unauthenticated)?;
        let principal = match credentials.access_token() {
            Some(token) => self.identify_client(token, request).await?,
            None => credentials.find_principal(&self.store).await?,
        };
        let principal = match principal {
            Some(principal) => principal,
            None => return Err(credentials.explain_refusal(&self.store).await?),
        };
        request.organization.require(principal.organization.as_str())?;
        Ok(principal)
    }

    /// Returns the user for whom a client acts, if its token is for the URL of the request.
    async fn identify_client(&self, token: &str, request: &AuthRequest) -> Result<Option<Principal>, Error> {
        let url = request.url.as_deref().filter(|_| self.bearers == Bearers::OfMcpClients);
        let Some(url) = url else { return Ok(None) };
        Ok(self.store.access().authenticate_access(token, url).await?)
    }
}
