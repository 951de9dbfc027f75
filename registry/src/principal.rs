//! The authenticated user of a request.

use std::net::IpAddr;

use crate::account::{OrganizationId, UserId};
use crate::api_key::ApiKeyId;
use crate::byte_cache::heap_bytes;
use crate::clock::Timestamp;
use crate::grant::Grants;
use crate::permission::Permission;
use crate::tool::Tool;

/// A user whose token was checked, with their grants at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub organization: OrganizationId,
    pub user: UserId,
    pub grants: Grants,
    /// `None` for a user who acts on the machine of the server, without a key.
    pub key: Option<SignInKey>,
    /// The address at the other end of the request's connection.
    pub address: Option<IpAddr>,
}

/// The API key that a user signed in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInKey {
    pub id: ApiKeyId,
    pub ends_at: Option<Timestamp>,
}

impl Principal {
    /// Whether the user has the permission without conditions.
    pub fn may(&self, permission: Permission) -> bool {
        permission == Permission::OwnAccount || self.grants.allow(permission)
    }

    /// Whether the user may have the permission for some tools, so that the tool must be checked.
    pub fn may_for_some(&self, permission: Permission) -> bool {
        self.may(permission) || self.grants.allow_some(permission)
    }

    /// Whether the user has the permission for this tool.
    pub fn may_for(&self, permission: Permission, tool: &Tool) -> bool {
        self.may(permission) || self.grants.allow_for(permission, tool)
    }
}

heap_bytes! {
    Principal { organization, user, grants }
}
