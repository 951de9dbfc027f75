//! Decoder of the grants of a role.

use api_kit::extract::{Decoder, Fields, List, Node, Object, Text, any_text};
use registry::{CONDITIONS_MAX, Condition, GRANTS_MAX, Grant, Grants, Permission, Tags};
use serde_json::{Value, json};

const CONDITION_KEY: Text<String> = Text::new(
    || {
        let bytes_max = "tag.".len() + Tags::TEXT_BYTES_MAX;
        json!({
            "type": "string", "pattern": r"^(tool_id|tool_name|tag\.[\w]([\w\s]*[\w])?)$", "x-unicode": true,
            "maxLength": bytes_max, "x-bytes-max": bytes_max,
            "description": "`tool_id`, `tool_name`, or `tag.` and the key of a tag.",
        })
    },
    |text| Ok(text.to_owned()),
);

const CONDITION_VALUE: Text<String> = Text::new(
    || {
        json!({
            "type": "string", "maxLength": Condition::VALUE_BYTES_MAX, "x-bytes-max": Condition::VALUE_BYTES_MAX,
            "description": "For `regex`, a pattern of the Rust crate `regex-lite` of moderate size; character classes \
                are ASCII only.",
        })
    },
    |text| Ok(text.to_owned()),
);

/// Decoder of `grants`.
pub(super) fn grants() -> impl Decoder<Value = Grants> {
    GrantsDecoder.described("All conditions of a grant must hold. A grant without conditions applies to everything.")
}

struct GrantsDecoder;

impl Decoder for GrantsDecoder {
    type Value = Grants;

    fn schema(&self) -> Value {
        List { items: GrantDecoder, length: 0..=GRANTS_MAX }.schema()
    }

    fn decode(&self, node: &Node) -> Option<Grants> {
        let grants = List { items: GrantDecoder, length: 0..=GRANTS_MAX }.decode(node)?;
        Grants::new(grants).map_or_else(|error| node.note("value_error", &error.to_string()), Some)
    }
}

/// Decoder of a grant. Only permissions whose operations name a tool take conditions.
struct GrantDecoder;

impl Decoder for GrantDecoder {
    type Value = Grant;

    fn schema(&self) -> Value {
        let of_kind = |is_conditional: bool, conditions_max: usize| {
            let mut permissions: Vec<_> = Permission::grantable().collect();
            permissions.retain(|permission| permission.can_be_conditional() == is_conditional);
            let mut schema = Object(|fields: &mut Fields| grant(fields, conditions_max)).schema();
            let names: Vec<_> = permissions.into_iter().map(Permission::as_str).collect();
            schema["properties"]["permission"]["enum"] = json!(names);
            schema
        };
        json!({"anyOf": [of_kind(true, CONDITIONS_MAX), of_kind(false, 0)]})
    }

    fn decode(&self, node: &Node) -> Option<Grant> {
        Object(|fields: &mut Fields| grant(fields, CONDITIONS_MAX)).decode(node)
    }
}

/// Reads the fields of a grant. A missing `conditions` means an empty list.
fn grant(fields: &mut Fields, conditions_max: usize) -> Option<Grant> {
    let permission = fields.read_required("permission", Text::new(|| any_text().schema(), Permission::parse));
    let conditions = List { items: Object(read_condition), length: 0..=conditions_max };
    let conditions = fields.read_optional("conditions", conditions.with_default(Vec::<Value>::new()));
    let grant = Grant::new(permission?, conditions.unwrap_or_default());
    fields.check_field("conditions", grant)
}

fn read_condition(fields: &mut Fields) -> Option<Condition> {
    fields.mark_parsed_as("condition");
    let key = fields.read_required("key", CONDITION_KEY);
    let operator = fields.read_required("operator", Text::new(build_operator_schema, |text| Ok(text.to_owned())));
    let value = fields.read_required("value", CONDITION_VALUE);
    let condition = Condition::parse(&key?, &operator?, &value?);
    fields.check(condition)
}

fn build_operator_schema() -> Value {
    json!({"type": "string", "enum": Condition::OPERATORS})
}
