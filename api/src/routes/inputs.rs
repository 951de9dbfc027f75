//! The inputs of a run, as an invocation and a branch test take them.

use std::collections::BTreeMap;

use api_kit::extract::{Decoder, Fields, List, Object, ObjectText, OneOf, Text, TextMap, text_within};
use registry::{InvocationMode, UserVariableName};
use runner::Input;
use serde_json::{Value, json};

use crate::wire::MODES;

/// Inputs of one call, which run in parallel.
const INPUTS_MAX: usize = 10;
/// User variables of one kind of one input.
const USER_VARIABLES_MAX: usize = 20;
/// Characters of the value of a user variable, as of a variable of a tool. Outputs are searched for sensitive ones.
const VALUE_CHARACTERS_MAX: usize = 32 << 10;

/// The contract's pattern of names, for the schema and the message; [`parse_user_variable_name`] has it as code.
const USER_VARIABLE_PATTERN: &str = "^[a-z_][a-z0-9_]+$";

const USER_VARIABLE_NAME: Text<String> = Text::new(
    || {
        let bytes_max = UserVariableName::BYTES_MAX;
        json!({"type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": USER_VARIABLE_PATTERN, "x-stripped": true})
    },
    parse_user_variable_name,
);

/// Decoder of `inputs`.
pub(super) fn inputs() -> impl Decoder<Value = Vec<Input>> {
    List { items: Object(read_input), length: 1..=INPUTS_MAX }
        .described("The inputs run in parallel; results come in the same order.")
}

/// An example of `inputs`.
pub(super) fn inputs_example() -> Value {
    json!([{
        "input_parameters": {"text": "hello"},
        "invocation_mode": "regular",
        "nonsensitive_user_variables": {"first_name": "Ada"},
        "sensitive_user_variables": {},
    }])
}

fn read_input(fields: &mut Fields) -> Option<Input> {
    let input_parameters = fields.read_required(
        "input_parameters",
        ObjectText.described("The input that the version's `input_schema` describes."),
    );
    let invocation_mode = fields.read_required(
        "invocation_mode",
        OneOf(&MODES).described("`conversation-simulation` tells the tool that it should not have effects."),
    );
    let nonsensitive_user_variables = fields
        .read_required("nonsensitive_user_variables", user_variables().described("The record keeps names and values."));
    let sensitive_user_variables = fields
        .read_required("sensitive_user_variables", user_variables().described("The record keeps the names only."));
    Some(Input {
        input_parameters: input_parameters?,
        invocation_mode: invocation_mode?,
        nonsensitive_user_variables: nonsensitive_user_variables?,
        sensitive_user_variables: sensitive_user_variables?,
    })
}

/// Decoder of the inputs of a tool in a turn, whose conversation has the mode.
pub(super) fn turn_inputs() -> impl Decoder<Value = Vec<Input>> {
    List { items: Object(read_turn_input), length: 1..=INPUTS_MAX }
        .described("The inputs run in parallel; results come in the same order.")
}

fn read_turn_input(fields: &mut Fields) -> Option<Input> {
    let described = "The input that the presented `input_schema` describes.";
    let input_parameters = fields.read_required("input_parameters", ObjectText.described(described));
    let nonsensitive = user_variables().described("The record keeps names and values.").with_default(json!({}));
    let nonsensitive_user_variables = fields.read_optional("nonsensitive_user_variables", nonsensitive);
    let sensitive = user_variables().described("The record keeps the names only.").with_default(json!({}));
    let sensitive_user_variables = fields.read_optional("sensitive_user_variables", sensitive);
    Some(Input {
        input_parameters: input_parameters?,
        invocation_mode: InvocationMode::Regular,
        nonsensitive_user_variables: nonsensitive_user_variables.unwrap_or_default(),
        sensitive_user_variables: sensitive_user_variables.unwrap_or_default(),
    })
}

fn user_variables() -> impl Decoder<Value = BTreeMap<String, String>> {
    TextMap { keys: USER_VARIABLE_NAME, values: text_within::<VALUE_CHARACTERS_MAX>(), entries_max: USER_VARIABLES_MAX }
}

/// Checks a name without the white space around it.
fn parse_user_variable_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let starts_right = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let continues_right = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let is_right = starts_right && continues_right && (2..=UserVariableName::BYTES_MAX).contains(&name.len());
    is_right.then(|| name.to_owned()).ok_or_else(|| format!("user variable name must match {USER_VARIABLE_PATTERN}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_pattern() {
        for name in ["ab", "_1", " first_name ", "a_"] {
            assert_eq!(parse_user_variable_name(name).as_deref(), Ok(name.trim()));
        }
        let long = "a".repeat(UserVariableName::BYTES_MAX + 1);
        for name in ["", "a", "1a", "aB", "a-b", "é1", "a b", &long] {
            assert!(parse_user_variable_name(name).is_err(), "{name}");
        }
    }
}
