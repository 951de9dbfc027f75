//! A user on the wire.

use registry::{OrganizationId, RoleName, User};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::extract::Node;

/// A user with their role.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "User")]
pub(crate) struct UserInstance {
    user_id: String,
    org_id: String,
    role: String,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
}

/// What a user looks like.
pub(super) fn example() -> Value {
    json!({"user_id": "bob", "org_id": "acme", "role": "searcher", "created_at": "2026-11-20T21:32:05.000Z"})
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
