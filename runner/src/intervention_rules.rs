//! The rules of a version that say which calls a person confirms, compiled.

use registry::{Intervention, InterventionRule};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::schema::InputSchema;

/// Steps of matching one rule: a fraction of a millisecond. A publish refuses rules that take more to compile.
const STEPS_MAX: u64 = 100_000;

/// The rules of a version.
#[derive(Debug, Default)]
pub(crate) struct InterventionRules(Vec<(InterventionRule, Option<InputSchema>)>);

impl InterventionRules {
    /// Compiles rules on a blocking thread.
    pub async fn compile(rules: Vec<InterventionRule>) -> Result<Self, Error> {
        if rules.is_empty() {
            return Ok(Self::default());
        }
        let compile = |rule: InterventionRule| {
            let schema = InputSchema::compile(&rule.schema()).ok();
            (rule, schema)
        };
        let compiled = tokio::task::spawn_blocking(move || rules.into_iter().map(compile).collect()).await;
        compiled.map(Self).map_err(|error| Error::internal(error.to_string()))
    }

    /// Returns the strictest rule that holds for the arguments. A rule that cannot be matched within its bound holds.
    pub fn strictest(&self, arguments: &Map<String, Value>) -> Intervention {
        if self.0.is_empty() {
            return Intervention::Never;
        }
        let arguments = Value::Object(arguments.clone());
        let holds = |schema: &Option<InputSchema>| {
            schema.as_ref().and_then(|schema| schema.accepts(&arguments, STEPS_MAX)).unwrap_or(true)
        };
        let holding = self.0.iter().filter(|(_, schema)| holds(schema)).map(|(rule, _)| rule.intervention);
        holding.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn strictest(rules: Value, arguments: Value) -> Intervention {
        let rules = serde_json::from_value(rules).unwrap();
        InterventionRules::compile(rules).await.unwrap().strictest(arguments.as_object().unwrap())
    }

    #[tokio::test]
    async fn the_strictest_rule_that_holds_counts() {
        let rules = json!([
            {"when": {"amount": {"minimum": 1000}}, "intervention": "always"},
            {"when": {"amount": {"minimum": 100}}, "intervention": "required"},
            {"when": {"to": {"pattern": "@example\\.com$"}, "urgent": {"const": true}}, "intervention": "always"},
        ]);
        for (arguments, expected) in [
            (json!({}), Intervention::Never),
            (json!({"amount": 99}), Intervention::Never),
            (json!({"amount": 100}), Intervention::Required),
            (json!({"amount": 1000}), Intervention::Always),
            (json!({"to": "ann@example.com"}), Intervention::Never),
            (json!({"to": "ann@example.com", "urgent": true}), Intervention::Always),
            (json!({"to": "ann@example.com", "urgent": false, "amount": 500}), Intervention::Required),
        ] {
            assert_eq!(strictest(rules.clone(), arguments.clone()).await, expected, "{arguments}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_matched_is_confirmed() {
        let rules = json!([{"when": {"list": {"items": {"type": "string"}}}, "intervention": "required"}]);
        assert_eq!(strictest(rules.clone(), json!({"list": [1]})).await, Intervention::Never);
        assert_eq!(strictest(rules, json!({"list": vec![1; 1_000_000]})).await, Intervention::Required, "too long");
        let refused = json!([{"when": {"a": {"type": "money"}}, "intervention": "always"}]);
        assert_eq!(strictest(refused, json!({})).await, Intervention::Always, "of another release");
    }
}
