//! Confirmation by a person that an agent asks for, besides what its tools declare themselves.

use std::collections::BTreeMap;

use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::intervention::{Intervention, InterventionRule};
use super::tool_api::ApiName;
use crate::kit::byte_cache::heap_bytes;

// The tool's own declaration counts besides: an agent makes it stricter, never weaker.
/// Whether a person confirms the calls that an agent makes of a tool: a word for all calls, or an object. The strictest part counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
pub struct HumanIntervention {
    /// For each call.
    pub policy: Intervention,
    /// For each call of an API of the tool.
    pub apis: BTreeMap<ApiName, Intervention>,
    /// For the calls with certain arguments.
    pub rules: Vec<InterventionRule>,
}

/// The form in JSON: the word of the policy, or an object.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[schemars(transform = RecursiveTransform(allow_unknown_members))]
enum Written {
    Word(Intervention),
    Parts {
        /// For each call.
        #[serde(default)]
        policy: Intervention,
        /// For each call of an API of the tool. Absent if there are none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        apis: BTreeMap<ApiName, Intervention>,
        /// For the calls with certain arguments. Absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<InterventionRule>,
    },
}

impl HumanIntervention {
    /// The greatest size as JSON, in bytes. Each call of the tool reads it.
    pub const BYTES_MAX: usize = 16 << 10;
    /// The greatest size in memory, in bytes. Small objects take a hundred times their text, and each running agent has up to 500 of these.
    pub const PARSED_BYTES_MAX: usize = 128 << 10;

    pub fn of_policy(policy: Intervention) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a person confirms a call with an input, apart from the rules.
    pub fn of_input(&self, input: &Map<String, Value>) -> Intervention {
        let of_api = ApiName::of_input(input).and_then(|api| self.apis.get(&api).copied());
        self.policy.max(of_api.unwrap_or_default())
    }
}

impl From<Written> for HumanIntervention {
    fn from(written: Written) -> Self {
        match written {
            Written::Word(policy) => Self::of_policy(policy),
            Written::Parts { policy, apis, rules } => Self { policy, apis, rules },
        }
    }
}

impl From<HumanIntervention> for Written {
    fn from(HumanIntervention { policy, apis, rules }: HumanIntervention) -> Self {
        match apis.is_empty() && rules.is_empty() {
            true => Self::Word(policy),
            false => Self::Parts { policy, apis, rules },
        }
    }
}

/// Describes the JSON to its readers: a later release may add members. Only the server's parser refuses unknown ones.
fn allow_unknown_members(schema: &mut Schema) {
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.remove("additionalProperties");
    }
}

heap_bytes! {
    HumanIntervention { apis, rules }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_policy_is_a_word_and_everything_else_an_object() {
        for written in [
            json!("never"),
            json!("always"),
            json!({"policy": "required", "apis": {"remove": "always"}}),
            json!({"policy": "never", "rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "always"}]}),
        ] {
            let read: HumanIntervention = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), written);
        }
        for wrong in [
            json!("sometimes"),
            json!({"policy": "sometimes"}),
            json!({"apis": {"Remove": "always"}}),
            json!({"rule": []}),
        ] {
            assert!(serde_json::from_value::<HumanIntervention>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_strictest_part_counts() {
        let asked = json!({"policy": "required", "apis": {"remove": "always", "list": "never"}});
        let asked: HumanIntervention = serde_json::from_value(asked).unwrap();
        for (input, expected) in [
            (json!({"api": "remove"}), Intervention::Always),
            (json!({"api": "list"}), Intervention::Required),
            (json!({"api": "create"}), Intervention::Required),
            (json!({}), Intervention::Required),
        ] {
            assert_eq!(asked.of_input(input.as_object().unwrap()), expected, "{input}");
        }
    }
}
