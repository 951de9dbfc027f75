//! Conditions of grants: a property of a tool, an operator, and a value to compare with.
//!
//! A tag without a value compares as the empty text. For a tag that the tool does not have, only `notEqual` and
//! `notContains` hold.

use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use crate::kit::byte_cache::{HeapBytes, heap_bytes};
use crate::kit::invalid_value::InvalidValue;
use crate::tools::{Tool, parse_tag_text};

/// The prefix of tags in condition keys.
const TAG_PREFIX: &str = "tag.";

/// One condition, for instance `tool_name startsWith search_`. On the wire: `{"key", "operator", "value"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredCondition", into = "StoredCondition")]
pub struct Condition {
    fact: Fact,
    test: Test,
}

/// A property of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    ToolId,
    ToolName,
    Tag(String),
}

/// An operator with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Equal(String),
    NotEqual(String),
    Contains(String),
    NotContains(String),
    StartsWith(String),
    EndsWith(String),
    Regex(Pattern),
}

#[derive(Serialize, Deserialize)]
struct StoredCondition {
    key: String,
    operator: String,
    value: String,
}

impl Condition {
    /// Bytes of the value. Names and tags are no longer.
    pub const VALUE_BYTES_MAX: usize = 256;

    /// All operators.
    pub const OPERATORS: [&'static str; 7] =
        ["equal", "notEqual", "contains", "notContains", "startsWith", "endsWith", "regex"];

    /// Parses a condition from a request.
    pub fn parse(key: &str, operator: &str, value: &str) -> Result<Self, InvalidValue> {
        let condition = Self { fact: Fact::parse(key)?, test: Test::parse(operator, value)? };
        if let Test::Regex(pattern) = &condition.test {
            Pattern::parse(pattern.source())?;
        }
        Ok(condition)
    }

    /// Key, operator and value, as users write them.
    pub fn into_parts(self) -> (String, &'static str, String) {
        let (operator, value) = self.test.into_wire();
        (self.fact.name(), operator, value)
    }

    /// Whether the condition holds for this tool.
    pub fn holds(&self, tool: &Tool) -> bool {
        match &self.fact {
            Fact::ToolId => self.test.holds(Some(tool.id.as_str())),
            Fact::ToolName => self.test.holds(Some(tool.name.as_str())),
            Fact::Tag(key) => {
                let tag = tool.tags.iter().find(|(name, _)| name == key);
                self.test.holds(tag.map(|(_, value)| value.unwrap_or_default()))
            }
        }
    }
}

impl Fact {
    fn parse(key: &str) -> Result<Self, InvalidValue> {
        match (key, key.strip_prefix(TAG_PREFIX)) {
            ("tool_id", _) => Ok(Self::ToolId),
            ("tool_name", _) => Ok(Self::ToolName),
            (_, Some(tag)) if parse_tag_text(tag).is_ok_and(|trimmed| trimmed == tag) => Ok(Self::Tag(tag.to_owned())),
            _ => Err(InvalidValue::new("key", "must be tool_id, tool_name or tag.KEY with the key of a tag")),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::ToolId => "tool_id".to_owned(),
            Self::ToolName => "tool_name".to_owned(),
            Self::Tag(key) => format!("{TAG_PREFIX}{key}"),
        }
    }
}

impl Test {
    fn parse(operator: &str, value: &str) -> Result<Self, InvalidValue> {
        if value.len() > Condition::VALUE_BYTES_MAX {
            return Err(InvalidValue::new("value", "must have at most 256 bytes"));
        }
        let value = value.to_owned();
        match operator {
            "equal" => Ok(Self::Equal(value)),
            "notEqual" => Ok(Self::NotEqual(value)),
            "contains" => Ok(Self::Contains(value)),
            "notContains" => Ok(Self::NotContains(value)),
            "startsWith" => Ok(Self::StartsWith(value)),
            "endsWith" => Ok(Self::EndsWith(value)),
            "regex" => Ok(Self::Regex(Pattern::stored(value))),
            _ => Err(InvalidValue::new(
                "operator",
                "must be equal, notEqual, contains, notContains, startsWith, endsWith or regex",
            )),
        }
    }

    fn holds(&self, text: Option<&str>) -> bool {
        match (self, text) {
            (Self::NotEqual(_) | Self::NotContains(_), None) => true,
            (_, None) => false,
            (Self::Equal(value), Some(text)) => text == value,
            (Self::NotEqual(value), Some(text)) => text != value,
            (Self::Contains(value), Some(text)) => text.contains(value.as_str()),
            (Self::NotContains(value), Some(text)) => !text.contains(value.as_str()),
            (Self::StartsWith(value), Some(text)) => text.starts_with(value.as_str()),
            (Self::EndsWith(value), Some(text)) => text.ends_with(value.as_str()),
            (Self::Regex(pattern), Some(text)) => pattern.is_match(text),
        }
    }

    fn into_wire(self) -> (&'static str, String) {
        match self {
            Self::Equal(value) => ("equal", value),
            Self::NotEqual(value) => ("notEqual", value),
            Self::Contains(value) => ("contains", value),
            Self::NotContains(value) => ("notContains", value),
            Self::StartsWith(value) => ("startsWith", value),
            Self::EndsWith(value) => ("endsWith", value),
            Self::Regex(pattern) => ("regex", pattern.source().to_owned()),
        }
    }
}

/// Reads a stored condition. Its pattern was checked when it was written.
impl TryFrom<StoredCondition> for Condition {
    type Error = InvalidValue;

    fn try_from(wire: StoredCondition) -> Result<Self, InvalidValue> {
        Ok(Self { fact: Fact::parse(&wire.key)?, test: Test::parse(&wire.operator, &wire.value)? })
    }
}

impl From<Condition> for StoredCondition {
    fn from(condition: Condition) -> Self {
        let (key, operator, value) = condition.into_parts();
        Self { key, operator: operator.to_owned(), value }
    }
}

heap_bytes! {
    Condition { fact, test }
}

impl HeapBytes for Fact {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::ToolId | Self::ToolName => 0,
            Self::Tag(key) => key.heap_bytes(),
        }
    }
}

impl HeapBytes for Test {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Equal(text)
            | Self::NotEqual(text)
            | Self::Contains(text)
            | Self::NotContains(text)
            | Self::StartsWith(text)
            | Self::EndsWith(text) => text.heap_bytes(),
            Self::Regex(pattern) => pattern.heap_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Test};

    fn holds(operator: &str, value: &str, text: Option<&str>) -> bool {
        Test::parse(operator, value).unwrap().holds(text)
    }

    #[test]
    fn operators_compare_texts() {
        for (operator, value, yes, no) in [
            ("equal", "search", "search", "Search"),
            ("notEqual", "search", "searches", "search"),
            ("contains", "ear", "search", "sea"),
            ("notContains", "arc", "sear", "search"),
            ("startsWith", "se", "search", "research"),
            ("endsWith", "ch", "search", "searches"),
            ("regex", "^s[a-z]+h$", "search", "search_2"),
        ] {
            assert!(holds(operator, value, Some(yes)), "{operator} {value} {yes}");
            assert!(!holds(operator, value, Some(no)), "{operator} {value} {no}");
        }
    }

    #[test]
    fn for_an_absent_tag_only_negations_hold() {
        for operator in ["equal", "contains", "startsWith", "endsWith", "regex"] {
            assert!(!holds(operator, "", None), "{operator}");
            assert!(holds(operator, "", Some("")), "{operator}");
        }
        assert!(holds("notEqual", "", None) && !holds("notEqual", "", Some("")));
        assert!(holds("notContains", "a", None) && holds("notContains", "a", Some("")));
    }

    #[test]
    fn invalid_conditions_are_refused() {
        let long = "v".repeat(257);
        for (key, operator, value) in [
            ("name", "equal", "x"),
            ("tag.", "equal", "x"),
            ("tag. a", "equal", "x"),
            ("tag.a-b", "equal", "x"),
            ("tool_name", "Equal", "x"),
            ("tool_name", "equal", &long),
            ("tool_name", "regex", "("),
        ] {
            assert!(Condition::parse(key, operator, value).is_err(), "{key} {operator} {value}");
        }
    }

    #[test]
    fn a_condition_survives_serialisation() {
        let text = r#"{"key":"tag.team one","operator":"notContains","value":"x"}"#;
        let condition: Condition = serde_json::from_str(text).unwrap();
        assert_eq!(condition, Condition::parse("tag.team one", "notContains", "x").unwrap());
        assert_eq!(serde_json::to_string(&condition).unwrap(), text);
    }
}
