//! Roles and grants on the wire.

use registry::{CONDITIONS_MAX, Condition, GRANTS_MAX, Grant, Grants, Permission, Role, Tags};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::extract::Node;
use crate::openapi::form;

/// A role with its grants; any one of them suffices.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Role")]
pub(crate) struct RoleInstance {
    name: String,
    built_in: bool,
    #[schemars(with = "Vec<Grant>")]
    grants: Grants,
    /// Null for a role that is built in.
    #[schemars(extend("format" = "date-time"))]
    created_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    updated_at: Option<String>,
}

/// What a role looks like.
pub(super) fn example() -> Value {
    json!({
        "name": "searcher", "built_in": false, "grants": grants_example(),
        "created_at": "2026-11-20T21:32:05.000Z", "updated_at": "2026-11-20T21:32:05.000Z",
    })
}

pub(super) fn grants_example() -> Value {
    let condition = json!({"key": "tool_name", "operator": "startsWith", "value": "search_"});
    json!([
        {"permission": "Tool:AccessRepo", "conditions": []},
        {"permission": "Tool:InvokeTool", "conditions": [condition]},
    ])
}

/// The form of `grants`: conditions only where operations name a tool to look at.
pub(super) fn grants_form() -> Value {
    let names = |conditional| {
        let some = Permission::grantable().filter(|permission| permission.can_be_conditional() == conditional);
        some.map(Permission::as_str).collect::<Vec<_>>()
    };
    let grant = |permissions: Vec<&str>, conditions_max| {
        let conditions = json!({"type": "array", "maxItems": conditions_max, "items": condition_form()});
        json!({
            "type": "object",
            "required": ["permission"],
            "properties": {
                "permission": {"type": "string", "enum": permissions},
                "conditions": form::default(form::or_null(conditions), &json!([])),
            },
        })
    };
    let items = json!({"anyOf": [grant(names(true), CONDITIONS_MAX), grant(names(false), 0)]});
    let words = "All conditions of a grant must hold; without conditions it is for everything.";
    json!({"type": "array", "maxItems": GRANTS_MAX, "items": items, "description": words})
}

fn condition_form() -> Value {
    let key_bytes_max = "tag.".len() + Tags::TEXT_BYTES_MAX;
    json!({
        "type": "object",
        "required": ["key", "operator", "value"],
        "properties": {
            "key": {
                "type": "string", "pattern": r"^(tool_id|tool_name|tag\.[\w]([\w\s]*[\w])?)$", "x-unicode": true,
                "maxLength": key_bytes_max, "x-bytes-max": key_bytes_max,
                "description": "`tool_id`, `tool_name`, or `tag.` and the key of a tag.",
            },
            "operator": {"type": "string", "enum": Condition::OPERATORS},
            "value": {
                "type": "string", "maxLength": Condition::VALUE_BYTES_MAX, "x-bytes-max": Condition::VALUE_BYTES_MAX,
                "description": "For `regex`, a pattern of Rust's `regex-lite` of moderate size; classes are of ASCII.",
            },
        },
        "x-parsed": "condition",
    })
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
