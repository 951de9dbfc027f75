//! Roles and their grants.

use registry::{Grants, Permission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A role. Each of its grants suffices by itself.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    pub name: String,
    pub built_in: bool,
    pub grants: Vec<Grant>,
    /// Null for a built-in role.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: Option<String>,
}

/// The built-in roles, and the custom ones of the organisation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoleList {
    #[schemars(length(max = 128))]
    pub roles: Vec<Role>,
}

/// A permission, for all tools or for those that meet every condition.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    #[schemars(with = "Permission")]
    pub permission: String,
    pub conditions: Vec<Condition>,
}

/// A condition, for instance `tool_name startsWith search_`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    pub key: String,
    pub operator: String,
    pub value: String,
}

/// An example of a role, for the OpenAPI document.
pub(crate) fn role_example() -> Value {
    json!({
        "name": "searcher", "built_in": false, "grants": grants_example(),
        "created_at": "2026-11-20T21:32:05.000Z", "updated_at": "2026-11-20T21:32:05.000Z",
    })
}

/// An example of grants, for the OpenAPI document.
pub(crate) fn grants_example() -> Value {
    let condition = json!({"key": "tool_name", "operator": "startsWith", "value": "search_"});
    json!([
        {"permission": "Tool:AccessRepo", "conditions": []},
        {"permission": "Tool:InvokeTool", "conditions": [condition]},
    ])
}

impl Grant {
    pub(crate) fn list(grants: &Grants) -> Vec<Self> {
        grants.iter().map(Self::from).collect()
    }
}

impl From<&registry::Grant> for Grant {
    fn from(grant: &registry::Grant) -> Self {
        let condition = |condition: registry::Condition| {
            let (key, operator, value) = condition.into_parts();
            Condition { key, operator: operator.to_owned(), value }
        };
        let conditions = grant.conditions().iter().cloned().map(condition).collect();
        Self { permission: grant.permission().as_str().to_owned(), conditions }
    }
}

impl From<registry::Role> for Role {
    fn from(role: registry::Role) -> Self {
        Self {
            name: role.name.into(),
            built_in: role.custom.is_none(),
            grants: Grant::list(&role.grants),
            created_at: role.custom.map(|times| times.created_at.to_string()),
            updated_at: role.custom.map(|times| times.updated_at.to_string()),
        }
    }
}
