//! The authenticated user of a request.

use std::net::IpAddr;

use super::api_key::ApiKeyId;
use super::grant::Grants;
use super::permission::Permission;
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::kit::byte_cache::heap_bytes;
use crate::kit::clock::Timestamp;
use crate::kit::ids::AgentId;
use crate::tools::Tool;

/// A user whose token was checked, with their grants at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub organization: OrganizationId,
    pub account: AccountId,
    pub grants: Grants,
    /// `None` for a user who acts on the machine of the server, without a key.
    pub key: Option<SignInKey>,
    /// The only agent at which the user's client may act, for an access token. Other credentials have no such bound.
    pub agent: Option<AgentId>,
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
    /// The id by which people know the user. Another user can get it after a removal: what belongs to the user names the account.
    pub fn user(&self) -> UserId {
        self.account.user()
    }

    /// Whether the credentials are for this agent. A new agent can have the URL that an earlier one had.
    pub fn may_act_at(&self, agent: &AgentId) -> bool {
        self.agent.as_ref().is_none_or(|own| own == agent)
    }

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
    Principal { organization, account, agent, grants }
}
