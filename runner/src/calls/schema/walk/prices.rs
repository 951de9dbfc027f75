//! The price list of keywords, and the keywords that are refused.

use serde_json::Value;

use crate::calls::schema::cost::Steps;

/// Steps of compiling one part: about two microseconds.
const COMPILE_PART: u64 = 400;
/// Steps of `multipleOf`, which converts a number to decimal digits and divides it.
const DIVISION: u64 = 60;
/// Steps of hashing one value.
const HASH: u64 = 8;
/// Steps for each byte of a text that a format or an encoding checks.
const FORMAT_BYTE: u64 = 8;
/// Bytes of text in a schema that cost as much to compare as one value.
const TEXT_BYTES: usize = 32;
/// Lists and objects in one `enum` of an early draft. The meta-schemas of these drafts compare each pair.
const EARLY_ENUM_MAX: usize = 100;

/// Keywords that apply to any part of a value.
const DEEPER: [&str; 7] = [
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
];
/// Keywords that a refusal may name as the most expensive one.
const REPORTED: [&str; 12] = [
    "$ref",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "enum",
    "format",
    "multipleOf",
    "oneOf",
    "pattern",
    "patternProperties",
    "uniqueItems",
];
/// Keywords that make a reference depend on its context, or that match all keywords beside them again.
const REFUSED: [&str; 6] =
    ["$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "unevaluatedProperties", "unevaluatedItems"];

/// Properties of a keyword.
#[derive(Debug, Clone, Copy)]
pub struct KeywordTraits {
    /// Whether the keyword applies to any part of a value.
    pub is_deeper: bool,
    /// Whether a refusal may name the keyword.
    pub is_reported: bool,
}

impl KeywordTraits {
    pub fn of(keyword: &str) -> Self {
        Self { is_deeper: DEEPER.contains(&keyword), is_reported: REPORTED.contains(&keyword) }
    }
}

/// The JSON Schema draft of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draft {
    /// 2019-09 and later, and documents without `$schema`. `format` is not checked.
    Late,
    /// Drafts 6 and 7.
    Early,
    /// Draft 4, in which `$id` is called `id`.
    Four,
}

impl Draft {
    /// # Errors
    /// When `$schema` does not name a draft.
    pub fn of(root: &Value) -> Result<Self, String> {
        root.get("$schema").map_or(Ok(Self::Late), |name| Self::parse(name.as_str().unwrap_or_default()))
    }

    /// Compares the whole name, since a vocabulary of a meta-schema may check formats.
    fn parse(name: &str) -> Result<Self, String> {
        let plain = name.trim_start_matches("https://").trim_start_matches("http://");
        match plain.trim_end_matches('#').strip_prefix("json-schema.org/").unwrap_or_default() {
            "draft/2019-09/schema" | "draft/2020-12/schema" => Ok(Self::Late),
            "draft-06/schema" | "draft-07/schema" => Ok(Self::Early),
            "draft-04/schema" => Ok(Self::Four),
            _ => Err(format!(
                "$schema {name:?} is not a known draft; write \"https://json-schema.org/draft/2020-12/schema\", or leave it out"
            )),
        }
    }

    /// # Errors
    /// When the keyword is refused, or refused with this value.
    pub fn check(self, keyword: &str, value: &Value, is_inner: bool) -> Result<(), String> {
        let is_id = keyword == "$id" || (self == Self::Four && keyword == "id" && value.is_string());
        if REFUSED.contains(&keyword) || (is_inner && is_id) {
            return Err(format!("{keyword} is not supported"));
        }
        if is_inner && keyword == "$schema" && value.as_str().is_some_and(|name| Self::parse(name) != Ok(self)) {
            return Err("$schema differs from the $schema of the document".to_owned());
        }
        if self != Self::Late && keyword == "enum" && measure_compound(value) > EARLY_ENUM_MAX {
            return Err(format!("an enum of this draft may have at most {EARLY_ENUM_MAX} lists and objects"));
        }
        Ok(())
    }
}

pub fn of_parts(parts: usize) -> Steps {
    let parts = parts as u64;
    Steps { parts, compile: parts.saturating_mul(COMPILE_PART), ..Steps::default() }
}

/// The cost of a keyword besides its parts.
pub fn of_keyword(keyword: &str, value: &Value, draft: Draft) -> Steps {
    let none = Steps::default();
    match keyword {
        "multipleOf" => Steps { parts: DIVISION, ..none },
        "uniqueItems" if value == &Value::Bool(true) => Steps { whole: HASH, ..none },
        // The crate parses a pattern again for each escape that it replaces.
        "format" if draft != Draft::Late && value == "regex" => Steps { squares: 1, bytes: FORMAT_BYTE, ..none },
        "format" | "contentEncoding" | "contentMediaType" if draft != Draft::Late => {
            Steps { bytes: FORMAT_BYTE, ..none }
        }
        _ => none,
    }
}

/// Number of values within a value of the schema with which an input is compared.
pub fn measure_size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(measure_size).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() / TEXT_BYTES + measure_size(member)).sum::<usize>()
        }
        Value::String(text) => 1 + text.len() / TEXT_BYTES,
        _ => 1,
    }
}

fn measure_compound(value: &Value) -> usize {
    let items = value.as_array().into_iter().flatten();
    items.filter(|item| item.is_array() || item.is_object()).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formats_cost_where_they_are_checked() {
        let price = |draft| of_keyword("format", &json!("regex"), draft);
        assert_eq!(price(Draft::Late), Steps::default());
        assert_eq!(price(Draft::Early).squares, 1);
        assert_eq!(of_keyword("format", &json!("email"), Draft::Four).bytes, FORMAT_BYTE);
    }

    #[test]
    fn drafts_are_recognised_by_name() {
        let draft = |name: &str| Draft::of(&json!({"$schema": name}));
        assert_eq!(Draft::of(&json!({})), Ok(Draft::Late));
        assert_eq!(draft("https://json-schema.org/draft/2020-12/schema"), Ok(Draft::Late));
        assert_eq!(draft("http://json-schema.org/draft-07/schema#"), Ok(Draft::Early));
        assert_eq!(draft("http://json-schema.org/draft-04/schema#"), Ok(Draft::Four));
        assert!(draft("https://json-schema.org/draft/2020-12/meta/format-assertion").is_err());
        assert!(draft("https://example.com/mine").unwrap_err().contains("not a known draft"));
        assert!(Draft::of(&json!({"$schema": 7})).is_err());
    }

    #[test]
    fn keywords_that_change_the_meaning_of_a_reference_are_refused() {
        for (draft, keyword, value, is_inner, refused) in [
            (Draft::Late, "$id", json!("x"), false, false),
            (Draft::Late, "$id", json!("x"), true, true),
            (Draft::Late, "id", json!("x"), true, false),
            (Draft::Four, "id", json!("x"), true, true),
            (Draft::Late, "$schema", json!("x"), true, true),
            (Draft::Late, "$schema", json!("https://json-schema.org/draft/2020-12/schema"), true, false),
            (Draft::Late, "$schema", json!("http://json-schema.org/draft-07/schema#"), true, true),
            (Draft::Early, "$schema", json!("http://json-schema.org/draft-07/schema#"), true, false),
            (Draft::Late, "unevaluatedItems", json!(false), false, true),
            (Draft::Early, "enum", json!(vec![json!([]); 101]), true, true),
            (Draft::Late, "enum", json!(vec![json!([]); 101]), true, false),
        ] {
            assert_eq!(draft.check(keyword, &value, is_inner).is_err(), refused, "{draft:?} {keyword}");
        }
    }

    #[test]
    fn the_size_of_data_counts_nested_values() {
        assert_eq!(measure_size(&json!([[[1]], {"a": "x".repeat(64)}])), 1 + 3 + 1 + 3);
    }
}
