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
pub(crate) enum Bearers {
    /// Id tokens.
    IdTokens,
    /// Id tokens and API keys, for MCP clients. They learn where the resource is described.
    OfMcpClients,
}

impl AccessCheck {
    pub(super) async fn check(&self, request: &AuthRequest) -> Result<Principal, Error> {
        let principal = self.identify(request).await?;
        let requirement = Requirement { principal: &principal, permission: self.permission };
        requirement.for_tool_read(request.resource.tool(&self.store, &principal)).await?;
        Ok(principal)
    }

    async fn identify(&self, request: &AuthRequest) -> Result<Principal, Error> {
        let credentials = request.credentials.as_ref().ok_or(Error::Unauthenticated)?;
        if credentials.is_bearer_key() && self.bearers == Bearers::IdTokens {
            return Err(Error::Unauthenticated);
        }
        let principal = credentials.principal(&self.store).await?.ok_or(Error::Unauthenticated)?;
        let is_own = request.organization.as_deref() == Some(principal.organization.as_str());
        if is_own { Ok(principal) } else { Err(Error::NotFound) }
    }
}
