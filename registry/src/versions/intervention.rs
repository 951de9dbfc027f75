//! Confirmation by a person: what a version declares for all of its calls, and its rules for calls with certain arguments.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::kit::byte_cache::{HeapBytes, heap_bytes};
use crate::kit::invalid_value::InvalidValue;

// The strictest is the last.
/// Whether a person confirms each call of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Intervention {
    /// Calls need no confirmation.
    #[default]
    Never,
    /// A person confirms each call, unless the caller has confirmed it already.
    Required,
    /// A person confirms each call, whoever the caller is.
    Always,
}

impl Intervention {
    pub const ALL: [Self; 3] = [Self::Never, Self::Required, Self::Always];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Required => "required",
            Self::Always => "always",
        }
    }

    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

impl FromStr for Intervention {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let found = Self::ALL.into_iter().find(|intervention| intervention.as_str() == text);
        found.ok_or(InvalidValue::new("intervention", "must be never, required or always"))
    }
}

/// A rule for the calls with certain arguments. The strictest of `intervention` and all rules that match a call counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterventionRule {
    /// JSON Schemas of arguments. The rule matches a call that has all of them, each as its schema says.
    pub when: Map<String, Value>,
    pub intervention: Intervention,
}

impl InterventionRule {
    /// Rules of one version, and of one tool of an agent. Nobody reviews a longer list.
    pub const COUNT_MAX: usize = 16;

    /// The schema of the arguments that the rule matches.
    pub fn schema(&self) -> Value {
        let required: Vec<_> = self.when.keys().collect();
        json!({"type": "object", "properties": self.when, "required": required})
    }
}

heap_bytes! {
    InterventionRule { when }
}

impl HeapBytes for Intervention {
    fn heap_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_project_file() {
        for intervention in Intervention::ALL {
            assert_eq!(serde_json::to_value(intervention).unwrap(), intervention.as_str());
            assert_eq!(intervention.as_str().parse(), Ok(intervention));
        }
        assert!("Never".parse::<Intervention>().is_err());
        assert!(Intervention::ALL.is_sorted(), "the strictest is the last");
    }

    #[test]
    fn a_rule_is_a_schema_of_arguments() {
        let rule = json!({"when": {"amount": {"minimum": 100}}, "intervention": "always"});
        let rule: InterventionRule = serde_json::from_value(rule).unwrap();
        let expected = json!({"type": "object", "properties": {"amount": {"minimum": 100}}, "required": ["amount"]});
        assert_eq!(rule.schema(), expected);
    }
}
