//! A user on the wire.

use registry::{OrganizationId, RoleName, User};
use serde::Serialize;

use crate::extract::Node;

#[derive(Serialize)]
pub(crate) struct UserInstance {
    user_id: String,
    org_id: String,
    role: String,
    created_at: String,
}

impl UserInstance {
    pub(super) fn new(organization: &OrganizationId, user: User) -> Self {
        Self {
            user_id: user.id.into(),
            org_id: organization.to_string(),
            role: user.role.into(),
            created_at: user.created_at.to_string(),
        }
    }
}

/// The role of a body.
pub(super) fn role(body: &Node) -> Option<RoleName> {
    body.required("role")?.parsed(RoleName::parse)
}
