//! A reason why one schema refuses values that another one accepts, in both directions of reading.

use std::fmt;

use serde_json::Value;

use super::quoted::quote;

/// Places are paths such as `.guests[].name`; the whole value has the empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No value is accepted at the place.
    Nothing {
        at: String,
    },
    Keyword {
        at: String,
        keyword: String,
        value: String,
    },
    /// A listed value.
    Value {
        at: String,
        value: String,
    },
    Required {
        at: String,
    },
    /// Properties that the schema does not list.
    Unlisted {
        at: String,
    },
    TooLarge,
    Other(String),
}

impl Reason {
    pub(super) fn keyword(at: &str, keyword: &str, value: &Value) -> Self {
        Self::Keyword { at: at.to_owned(), keyword: keyword.to_owned(), value: quote(value) }
    }

    /// The change when the refusing schema is the old one: what is accepted now.
    pub fn show_widened(&self) -> String {
        match self {
            Self::Nothing { at } if !at.is_empty() && !at.ends_with("[]") => {
                format!("new optional input {}", show_place(at))
            }
            Self::Keyword { at, keyword, value } => {
                format!("{} accepts more than before: `{keyword}` was {value}", show_place(at))
            }
            Self::Value { at, value } => format!("{} accepts {value} now", show_place(at)),
            Self::Required { at } => format!("{} is optional now", show_place(at)),
            Self::Unlisted { at } => format!("{} accepts properties now that the schema does not list", show_place(at)),
            Self::Nothing { .. } | Self::TooLarge | Self::Other(_) => {
                format!("inputs are accepted that were refused before ({self})")
            }
        }
    }
}

/// The change when the refusing schema is the new one: what is refused now.
impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { at } => write!(formatter, "{} accepts nothing any more", show_place(at)),
            Self::Keyword { at, keyword, value } => {
                write!(formatter, "{} accepts less than before: `{keyword}` {value}", show_place(at))
            }
            Self::Value { at, value } => write!(formatter, "{} no longer accepts {value}", show_place(at)),
            Self::Required { at } => write!(formatter, "{} is required now", show_place(at)),
            Self::Unlisted { at } => {
                write!(formatter, "{} no longer accepts properties that the schema does not list", show_place(at))
            }
            Self::TooLarge => formatter.write_str("the schemas are too large to be compared"),
            Self::Other(text) => formatter.write_str(text),
        }
    }
}

pub(super) fn show_place(at: &str) -> String {
    if at.is_empty() { "the input".to_owned() } else { format!("`{}`", at.trim_start_matches('.')) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::values::compare_inputs;
    use super::*;

    #[test]
    fn wider_inputs_are_named() {
        let of = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let old = of(json!({"name": {"type": "string"}, "times": {"maximum": 5}}), json!(["name", "times"]));
        let reasons =
            |new: Value| compare_inputs(&old, &new).into_iter().map(|change| change.reason).collect::<Vec<_>>();
        let name = json!({"type": "string"});
        let properties = json!({"name": name, "times": {"maximum": 5}, "language": name});
        assert_eq!(reasons(of(properties, json!(["name", "times"]))), ["new optional input `language`"]);
        let properties = json!({"name": name, "times": {"maximum": 9}});
        let expected = ["`times` accepts more than before: `maximum` was 5", "`times` is optional now"];
        let mut found = reasons(of(properties, json!(["name"])));
        found.sort();
        assert_eq!(found, expected);
    }
}
