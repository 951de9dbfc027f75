//! The user on whose behalf something happens.

use crate::account::{OrganizationId, UserId};
use crate::permission::{Permission, PermissionSet};

/// A user whose credentials were checked, with the rights that they had then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub organization: OrganizationId,
    pub user: UserId,
    pub permissions: PermissionSet,
}

impl Principal {
    pub const fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(permission)
    }
}
