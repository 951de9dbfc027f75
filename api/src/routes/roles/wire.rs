//! Roles and grants on the wire.

use registry::{CONDITIONS_MAX, Condition, GRANTS_MAX, Grant, Grants, Permission, Role};
use serde::Serialize;

use crate::extract::Node;

#[derive(Serialize)]
pub(crate) struct RoleInstance {
    name: String,
    built_in: bool,
    grants: Grants,
    /// Null for a role that is built in.
    created_at: Option<String>,
    updated_at: Option<String>,
}

impl From<Role> for RoleInstance {
    fn from(role: Role) -> Self {
        Self {
            name: role.name.into(),
            built_in: role.custom.is_none(),
            grants: role.grants,
            created_at: role.custom.map(|times| times.created_at.to_string()),
            updated_at: role.custom.map(|times| times.updated_at.to_string()),
        }
    }
}

/// Reads `grants` of a body.
pub(super) fn grants(body: &Node) -> Option<Grants> {
    let node = body.required("grants")?;
    let grants: Vec<Option<Grant>> = node.items(0..=GRANTS_MAX)?.iter().map(grant).collect();
    noted(&node, Grants::new(grants.into_iter().collect::<Option<_>>()?))
}

/// `conditions` may be left out, which means the same as an empty list.
fn grant(node: &Node) -> Option<Grant> {
    let permission = node.required("permission").and_then(|node| node.parsed(Permission::parse));
    let Some(list) = node.optional("conditions") else {
        return noted(node, Grant::new(permission?, Vec::new()));
    };
    let conditions: Vec<Option<Condition>> = list.items(0..=CONDITIONS_MAX)?.iter().map(condition).collect();
    noted(&list, Grant::new(permission?, conditions.into_iter().collect::<Option<_>>()?))
}

fn condition(node: &Node) -> Option<Condition> {
    let text = |key| node.required(key).and_then(|node| node.text());
    let (key, operator, value) = (text("key"), text("operator"), text("value"));
    noted(node, Condition::parse(key?, operator?, value?))
}

fn noted<T>(node: &Node, parsed: Result<T, registry::InvalidValue>) -> Option<T> {
    match parsed {
        Ok(value) => Some(value),
        Err(error) => node.note("value_error", &error.to_string()),
    }
}
