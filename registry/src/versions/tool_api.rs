//! The APIs of a version: functions of one tool that agents call by names of their own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::annotations::Annotations;
use super::intervention::Intervention;
use super::schema_text::SchemaText;
use crate::kit::byte_cache::heap_bytes;
use crate::kit::text_type::{made_of, text_type};
use crate::text::raw_json::RawJson;
use crate::tools::Description;

text_type! {
    /// The name of an API, unique in its version.
    ApiName = "API name", "must be 1 to 40 characters of a-z A-Z 0-9 _, the first of a-z", |text| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        made_of(text, ApiName::BYTES_MAX, allowed).filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
}

text_type! {
    /// The instructions of a version with APIs, for models: when to use each of them. Surrounding white space is trimmed. NUL is
    /// refused, because some databases refuse it.
    SystemRole = "system role", "must have 1 to 8192 bytes besides surrounding white space, and no NUL", |text| {
        made_of(text.trim(), SystemRole::BYTES_MAX, |c| c != '\0')
    };
}

impl SystemRole {
    /// Length of the instructions: about two pages. A model reads them before every answer.
    pub const BYTES_MAX: usize = 8192;
}

impl ApiName {
    /// APIs of one version. A model reads all of them.
    pub const COUNT_MAX: usize = 32;
    /// Length of a name. With the name of the tool, it becomes a function name for models.
    pub const BYTES_MAX: usize = 40;
    /// The member of an input that names the API.
    pub const MEMBER: &'static str = "api";
    /// The member of an input with the arguments of the API.
    pub const ARGUMENTS_MEMBER: &'static str = "arguments";

    /// Makes the input of a call of the API.
    pub fn input(&self, arguments: &RawJson) -> RawJson {
        RawJson::of_members(&BTreeMap::from([
            (Self::MEMBER, &RawJson::of_text(self.as_str())),
            (Self::ARGUMENTS_MEMBER, arguments),
        ]))
    }

    /// The name in an input. `None` when the input has no member with the name of an API.
    pub fn of_input(input: &Map<String, Value>) -> Option<Self> {
        Self::parse(input.get(Self::MEMBER)?.as_str()?).ok()
    }
}

/// An API of a version, which agents list by a name of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolApi {
    /// The text by which a model chooses the API.
    pub description: Description,
    /// JSON Schema of the arguments.
    pub input_schema: SchemaText,
    /// JSON Schema of the output, if the author declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaText>,
    /// The author's hints for models and clients. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Whether a person confirms each call of the API. Absent for `never`.
    #[serde(default, skip_serializing_if = "Intervention::is_never")]
    pub intervention: Intervention,
}

heap_bytes! {
    ToolApi { description, input_schema, output_schema, annotations }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_is_an_identifier() {
        for name in ["create", "listOrders", "list_orders", "a", &"a".repeat(40)] {
            assert!(ApiName::parse(name).is_ok(), "{name}");
        }
        for name in ["", "Create", "_create", "1st", "list-orders", "é", &"a".repeat(41)] {
            assert!(ApiName::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn an_input_names_its_api() {
        let create = ApiName::parse("create").unwrap();
        let input = create.input(&json!({"item": "pen"}).as_object().unwrap().into());
        assert_eq!(input.as_str(), r#"{"api":"create","arguments":{"item":"pen"}}"#);
        assert_eq!(ApiName::of_input(&input.members().unwrap()), Some(create));
        for other in [json!({}), json!({"api": 1}), json!({"api": "Create"})] {
            assert_eq!(ApiName::of_input(other.as_object().unwrap()), None, "{other}");
        }
    }
}
