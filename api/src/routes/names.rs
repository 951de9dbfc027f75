//! Texts of the contract that more than one operation reads, and the path parameters.
//!
//! The contract strips white space around names before it checks them, so that happens here.

use std::str::FromStr;

use registry::{
    ApiKeyId, BranchName, BuildId, Constraint, Description, EnvvarName, InvalidValue, InvocationId, OperationId,
    ProjectPath, RoleName, Tags, ToolId, ToolName, UserId,
};
use serde_json::{Value, json};

use crate::extract::{Node, PathParameter};
use crate::openapi::form;

/// Parses a name without the white space around it.
pub(crate) fn stripped<T: FromStr<Err = InvalidValue>>(text: &str) -> Result<T, InvalidValue> {
    text.trim().parse()
}

pub(crate) fn tool_name_form() -> Value {
    let most = ToolName::BYTES_MAX;
    json!({"type": "string", "minLength": 1, "maxLength": most, "pattern": "^[a-z0-9_]+$", "x-stripped": true})
}

pub(crate) fn description_form() -> Value {
    let most = Description::BYTES_MAX;
    json!({
        "type": "string", "minLength": 1, "maxLength": most, "pattern": r"^[^\u0000]*$", "x-bytes-max": most,
        "x-stripped": true,
    })
}

fn tag_form() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": Tags::TEXT_BYTES_MAX,
        "pattern": r"^[\w\s]+$", "x-unicode": true, "x-bytes-max": Tags::TEXT_BYTES_MAX, "x-stripped": true,
    })
}

pub(crate) fn tags_form() -> Value {
    form::said(
        form::map(&tag_form(), &form::or_null(tag_form()), Tags::COUNT_MAX),
        "Words on the tool, each with a value or null.",
    )
}

pub(crate) fn envvar_name_form() -> Value {
    let most = EnvvarName::BYTES_MAX;
    json!({"type": "string", "minLength": 1, "maxLength": most, "pattern": "^[A-Z_]+$", "x-stripped": true})
}

pub(crate) fn project_path_form() -> Value {
    json!({
        "type": "string", "maxLength": ProjectPath::BYTES_MAX, "pattern": "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?$",
        "description": "The project's folder, from the root of the repository.",
    })
}

/// The rules of `git check-ref-format --branch`.
pub(crate) fn branch_name_form() -> Value {
    let kept_out = r"^(?!-|@$|HEAD$)(?!.*(\.\.|@\{|\.$|\.lock(/|$)))";
    let allowed = r"\u0000-\u0020\u007f-\u009f~^:?*\[\\/";
    let part = format!("[^.{allowed}][^{allowed}]*");
    let most = BranchName::BYTES_MAX;
    json!({
        "type": "string", "maxLength": most, "x-bytes-max": most, "pattern": format!("{kept_out}{part}(/{part})*$"),
        "description": "The branch without `refs/heads/`.",
    })
}

pub(crate) fn user_id_form() -> Value {
    json!({"type": "string", "maxLength": UserId::BYTES_MAX, "pattern": "^[A-Za-z0-9._@-]+$"})
}

pub(crate) fn role_name_form() -> Value {
    json!({"type": "string", "maxLength": RoleName::BYTES_MAX, "pattern": "^[a-z0-9_-]+$"})
}

fn api_key_id_form() -> Value {
    json!({"type": "string", "pattern": "^[A-Za-z0-9]{12}$"})
}

/// Version constraints are parsed; no pattern of a readable length describes them.
pub(crate) fn constraint_form() -> Value {
    json!({"type": "string", "x-parsed": "pep-440"})
}

/// Ids of other services have the form of ours.
pub(crate) fn object_id(text: &str) -> Result<String, &'static str> {
    let hexadecimal = text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hexadecimal.then(|| text.to_owned()).ok_or("should be 24 lower-case hexadecimal characters")
}

/// An object of tags: name to text or null.
pub(crate) fn tags(node: &Node) -> Option<Tags> {
    let mut tags = Vec::new();
    for (key, value) in node.entries(Tags::COUNT_MAX)? {
        if value.value().is_null() {
            tags.push((key.to_owned(), None));
        } else {
            tags.push((key.to_owned(), Some(value.text()?.to_owned())));
        }
    }
    match Tags::parse(tags) {
        Ok(tags) => Some(tags),
        Err(error) => node.note("string_pattern_mismatch", &error.to_string()),
    }
}

/// Path parameters that the registry's parser reads: name, words, form.
macro_rules! path_parameters {
    ($($name:ident = $parameter:literal, $says:literal, $form:path;)*) => {$(
        impl PathParameter for $name {
            const NAME: &'static str = $parameter;
            const SAYS: &'static str = $says;
            type Invalid = InvalidValue;

            fn form() -> Value {
                $form()
            }

            fn parse_parameter(text: &str) -> Result<Self, InvalidValue> {
                Self::parse(text)
            }
        }
    )*};
}

path_parameters! {
    ToolId = "tool_id", "The tool's id.", form::object_id;
    BuildId = "build_id", "The build's id.", form::object_id;
    OperationId = "operation_id", "The operation's id.", form::object_id;
    InvocationId = "invocation_id", "The record's id.", form::object_id;
    UserId = "user_id", "The user's id.", user_id_form;
    RoleName = "role_name", "The role's name.", role_name_form;
    ApiKeyId = "api_key_id", "The key's id.", api_key_id_form;
}

impl PathParameter for Constraint {
    const NAME: &'static str = "version";
    const SAYS: &'static str = "A version such as `1.2.0`, or a PEP 440 constraint such as `>=1.2,<2`: at most 16 \
        clauses in 256 bytes.";
    type Invalid = InvalidValue;

    fn form() -> Value {
        json!({"type": "string", "minLength": 1, "x-parsed": "pep-440-clause"})
    }

    /// Nothing would mean all versions, which nobody deprecates by leaving something out.
    fn parse_parameter(text: &str) -> Result<Self, InvalidValue> {
        let constraint = Self::parse(text)?;
        if constraint.is_any() {
            return Err(InvalidValue::new("version constraint", "must not be empty here; >=0 means every version"));
        }
        Ok(constraint)
    }
}
