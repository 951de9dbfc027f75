//! The inputs of a run, as invoke and branch test take them.

use std::collections::BTreeMap;

use registry::InvocationMode;
use runner::Input;
use serde_json::{Value, json};

use crate::extract::Node;
use crate::openapi::form;

/// Inputs of one call, which run in parallel.
const INPUTS_MAX: usize = 10;
/// User variables of one kind of one input.
const USER_VARIABLES_MAX: usize = 20;

const MODES: [(&str, InvocationMode); 2] =
    [("regular", InvocationMode::Regular), ("conversation-simulation", InvocationMode::ConversationSimulation)];

/// The form of `inputs`.
pub(super) fn inputs_form() -> Value {
    let items = json!({
        "type": "object",
        "required": ["input_parameters", "invocation_mode", "nonsensitive_user_variables", "sensitive_user_variables"],
        "properties": {
            "input_parameters": {
                "type": "object", "additionalProperties": true,
                "description": "What the version's `input_schema` describes.",
            },
            "invocation_mode": form::said(
                form::one_of(&MODES),
                "`conversation-simulation` tells the tool that nothing it does should have effects.",
            ),
            "nonsensitive_user_variables": form::said(user_variables_form(), "Kept in the record."),
            "sensitive_user_variables": form::said(user_variables_form(), "Of these the record keeps the names."),
        },
    });
    let words = "They run in parallel; results come in the same order.";
    json!({"type": "array", "minItems": 1, "maxItems": INPUTS_MAX, "items": items, "description": words})
}

/// Inputs of that form.
pub(super) fn inputs_example() -> Value {
    json!([{
        "input_parameters": {"text": "hello"},
        "invocation_mode": "regular",
        "nonsensitive_user_variables": {"first_name": "Ada"},
        "sensitive_user_variables": {},
    }])
}

fn user_variables_form() -> Value {
    let name = json!({"type": "string", "minLength": 1, "pattern": "^[a-z_][a-z0-9_]+$", "x-stripped": true});
    form::map(&name, &form::text(), USER_VARIABLES_MAX)
}

/// Reads `inputs` of a body.
pub(super) fn inputs(body: &Node) -> Option<Vec<Input>> {
    let nodes = body.required("inputs")?.items(1..=INPUTS_MAX)?;
    let inputs: Vec<Option<Input>> = nodes.iter().map(input).collect();
    inputs.into_iter().collect()
}

fn input(node: &Node) -> Option<Input> {
    node.object()?;
    let input_parameters = node.required("input_parameters").and_then(|node| node.object().cloned());
    let invocation_mode = node.required("invocation_mode").and_then(|node| node.one_of(&MODES));
    let nonsensitive_user_variables = user_variables(node, "nonsensitive_user_variables");
    let sensitive_user_variables = user_variables(node, "sensitive_user_variables");
    Some(Input {
        input_parameters: input_parameters?,
        invocation_mode: invocation_mode?,
        nonsensitive_user_variables: nonsensitive_user_variables?,
        sensitive_user_variables: sensitive_user_variables?,
    })
}

fn user_variables(node: &Node, key: &str) -> Option<BTreeMap<String, String>> {
    node.required(key)?.text_entries(USER_VARIABLES_MAX, user_variable_name)
}

/// `^[a-z_][a-z0-9_]+$` after white space is dropped.
fn user_variable_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    let starts_right = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let continues_right = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let right = starts_right && continues_right && name.len() > 1;
    right.then(|| name.to_owned()).ok_or("user variable name must match ^[a-z_][a-z0-9_]+$")
}

#[cfg(test)]
mod tests {
    use super::user_variable_name;

    #[test]
    fn names_follow_the_pattern() {
        for name in ["ab", "_1", " first_name ", "a_"] {
            assert_eq!(user_variable_name(name).as_deref(), Ok(name.trim()));
        }
        for name in ["", "a", "1a", "aB", "a-b", "é1", "a b"] {
            assert!(user_variable_name(name).is_err(), "{name}");
        }
    }
}
