//! Texts of the contract that more than one operation reads, and the path parameters.
//!
//! The contract strips white space around names before it checks them, so that happens here.

use std::str::FromStr;

use registry::{ApiKeyId, BuildId, Constraint, InvalidValue, InvocationId, RoleName, Tags, ToolId, UserId};

use crate::extract::{Node, PathParameter};

/// Tags of one tool.
const TAGS_MAX: usize = 20;

/// Parses a name without the white space around it.
pub(crate) fn stripped<T: FromStr<Err = InvalidValue>>(text: &str) -> Result<T, InvalidValue> {
    text.trim().parse()
}

/// Ids of other services have the form of ours.
pub(crate) fn object_id(text: &str) -> Result<String, &'static str> {
    let hexadecimal = text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hexadecimal.then(|| text.to_owned()).ok_or("should be 24 lower-case hexadecimal characters")
}

/// An object of tags: name to text or null.
pub(crate) fn tags(node: &Node) -> Option<Tags> {
    let mut tags = Vec::new();
    for (key, value) in node.entries(TAGS_MAX)? {
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

/// Path parameters that the registry's parser reads.
macro_rules! path_parameters {
    ($($name:ident = $parameter:literal,)*) => {$(
        impl PathParameter for $name {
            const NAME: &'static str = $parameter;
            type Invalid = InvalidValue;

            fn parse_parameter(text: &str) -> Result<Self, InvalidValue> {
                Self::parse(text)
            }
        }
    )*};
}

path_parameters! {
    ToolId = "tool_id",
    BuildId = "build_id",
    InvocationId = "invocation_id",
    UserId = "user_id",
    RoleName = "role_name",
    ApiKeyId = "api_key_id",
}

impl PathParameter for Constraint {
    const NAME: &'static str = "version";
    type Invalid = InvalidValue;

    /// Nothing would mean all versions, which nobody deprecates by leaving something out.
    fn parse_parameter(text: &str) -> Result<Self, InvalidValue> {
        let constraint = Self::parse(text)?;
        if constraint.is_any() {
            return Err(InvalidValue::new("version constraint", "must not be empty here; >=0 means every version"));
        }
        Ok(constraint)
    }
}
