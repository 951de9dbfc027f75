//! Settings of a version for MCP clients: whether they also find it as a prompt or as a resource, and when its tasks begin.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::uri_parts::{UriPart, parse_parts};
use crate::kit::byte_cache::heap_bytes;
use crate::kit::invalid_value::InvalidValue;
use crate::kit::text_type::described_as_text;

/// Bytes of the URI of a resource.
const URI_BYTES_MAX: usize = 2_048;

/// What MCP clients see of a version besides a tool, and when its tasks begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpSettings {
    /// Whether the tool is a prompt, too. Absent if it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompt: bool,
    /// The URI of the resource that a call reads, or a template of URIs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceUri>,
    /// Whether a call asks its questions before it becomes a task. Absent if it asks them in the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_first: bool,
}

impl McpSettings {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The URI of a resource, or a template of URIs with variables, such as `report://{year}/sales`. Templates are those of RFC 6570, level 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ResourceUri {
    text: String,
    parts: Vec<UriPart>,
}

described_as_text!(ResourceUri);

impl ResourceUri {
    /// # Errors
    /// When the text is no URI of a resource.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let parts = parse_parts(text).map_err(|reason| InvalidValue::new("resource", reason))?;
        Ok(Self { text: text.to_owned(), parts })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables. A URI without them names one resource.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            UriPart::Variable(name) => Some(name.as_str()),
            UriPart::Literal(_) => None,
        })
    }

    pub fn is_template(&self) -> bool {
        self.variables().next().is_some()
    }

    /// Returns the values of the variables, if `uri` is one of this template. A value has no `/`; its end is where the text after the
    /// variable begins first.
    pub fn values(&self, uri: &str) -> Option<BTreeMap<&str, String>> {
        if uri.len() > URI_BYTES_MAX {
            return None;
        }
        let (mut values, mut rest) = (BTreeMap::new(), uri);
        for (index, part) in self.parts.iter().enumerate() {
            match (part, self.parts.get(index + 1)) {
                (UriPart::Literal(text), _) => rest = rest.strip_prefix(text.as_str())?,
                (UriPart::Variable(name), next) => {
                    let value = find_value(rest, next)?;
                    values.insert(name.as_str(), decode(value)?);
                    rest = rest.get(value.len()..)?;
                }
            }
        }
        rest.is_empty().then_some(values)
    }
}

/// The beginning of a text that is the value of a variable, before `next`.
fn find_value<'t>(text: &'t str, next: Option<&UriPart>) -> Option<&'t str> {
    let end = match next {
        Some(UriPart::Literal(literal)) => text.find(literal.as_str())?,
        _ => text.len(),
    };
    text.get(..end).filter(|value| !value.is_empty() && !value.contains('/'))
}

fn decode(value: &str) -> Option<String> {
    percent_encoding::percent_decode_str(value).decode_utf8().ok().map(Into::into)
}

impl TryFrom<String> for ResourceUri {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        Self::parse(&text)
    }
}

impl From<ResourceUri> for String {
    fn from(uri: ResourceUri) -> Self {
        uri.text
    }
}

heap_bytes! {
    McpSettings { resource }
    ResourceUri { text, parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let template = ResourceUri::parse(template).unwrap();
        let values = template.values(uri)?;
        Some(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn some(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn the_variables_of_a_template_have_the_values_of_a_uri() {
        assert_eq!(values("test://a", "test://a"), some(&[]));
        assert_eq!(values("test://{id}/data", "test://12/data"), some(&[("id", "12")]));
        assert_eq!(values("test://{a}-{b}", "test://1-2-3"), some(&[("a", "1"), ("b", "2-3")]));
        assert_eq!(values("test://{a}", "test://S%C3%A4le%2FMay"), some(&[("a", "Säle/May")]));
        for other in [
            "test://12",
            "test:///data",
            "test://1/2/data",
            "test://12/data/",
            "Test://12/data",
            "test://%ff/data",
            &format!("test://{}/data", "1".repeat(URI_BYTES_MAX)),
        ] {
            assert_eq!(values("test://{id}/data", other), None, "{other}");
        }
    }

    #[test]
    fn a_template_is_read_back_from_what_is_stored() {
        let forms =
            McpSettings { prompt: true, resource: Some(ResourceUri::parse("test://{id}").unwrap()), ask_first: false };
        let stored = serde_json::to_string(&forms).unwrap();
        assert_eq!(stored, r#"{"prompt":true,"resource":"test://{id}"}"#);
        assert_eq!(serde_json::from_str::<McpSettings>(&stored).unwrap(), forms);
        assert!(serde_json::from_str::<McpSettings>(r#"{"resource":"test"}"#).is_err());
        assert_eq!(serde_json::from_str::<McpSettings>("{}").unwrap(), McpSettings::default());
    }
}
