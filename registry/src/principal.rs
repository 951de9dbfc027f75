//! The user on whose behalf something happens.

use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::grant::Grants;
use crate::permission::Permission;
use crate::tool::Tool;

/// A user whose credentials were checked, with the rights that they had then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub organization: OrganizationId,
    pub user: UserId,
    pub grants: Grants,
    /// When the key ends that they signed in with, if it does.
    pub key_ends_at: Option<Timestamp>,
}

impl Principal {
    /// Whether the permission is theirs whatever it is used on.
    pub fn may(&self, permission: Permission) -> bool {
        permission == Permission::OwnAccount || self.grants.allow(permission)
    }

    /// Whether the permission may be theirs for some tools, so that the tool has to be looked at.
    pub fn may_for_some(&self, permission: Permission) -> bool {
        self.may(permission) || self.grants.allow_some(permission)
    }

    /// Whether the permission is theirs for this tool.
    pub fn may_for(&self, permission: Permission, tool: &Tool) -> bool {
        self.may(permission) || self.grants.allow_for(permission, tool)
    }
}
