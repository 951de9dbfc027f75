//! The rules of a version, or of a call, that say which calls a person confirms, compiled.

use registry::{HeapBytes, Intervention, InterventionRule};
use serde_json::{Map, Value};

use crate::calls::schema::InputSchema;
use crate::error::Error;

/// Steps of matching all rules with all inputs of a call: about a millisecond.
const STEPS_MAX: u64 = 200_000;
/// Steps of matching one rule at a build, for which each argument is a text of [`PROBE_BYTES`].
const PROBE_STEPS_MAX: u64 = STEPS_MAX / 2;
const PROBE_BYTES: usize = 256;

/// The rules of a version, or those that come with a call.
#[derive(Debug, Default)]
pub(crate) struct InterventionRules(Vec<CompiledRule>);

#[derive(Debug)]
struct CompiledRule {
    intervention: Intervention,
    /// The arguments that the rule is about.
    arguments: Vec<String>,
    /// `None` when this release refuses a schema that another one published.
    schema: Option<InputSchema>,
}

/// Checks a rule before anything has it.
///
/// # Errors
/// The reason why the rule cannot be used.
pub fn check_intervention_rule(rule: &InterventionRule) -> Result<(), String> {
    let schema = InputSchema::compile(&rule.schema())?;
    let probe = rule.when.keys().map(|argument| (argument.clone(), "x".repeat(PROBE_BYTES).into())).collect();
    match schema.accepts(&Value::Object(probe), PROBE_STEPS_MAX) {
        Some(_) => Ok(()),
        None => {
            Err(format!("matching {PROBE_BYTES} characters for each argument is too expensive; simplify the schemas"))
        }
    }
}

impl InterventionRules {
    /// Compiles rules on a blocking thread.
    pub async fn compile(rules: Vec<InterventionRule>) -> Result<Self, Error> {
        if rules.is_empty() {
            return Ok(Self::default());
        }
        let compile = |rule: InterventionRule| CompiledRule {
            intervention: rule.intervention,
            schema: InputSchema::compile(&rule.schema()).ok(),
            arguments: rule.when.into_iter().map(|(argument, _)| argument).collect(),
        };
        let compiled = tokio::task::spawn_blocking(move || rules.into_iter().map(compile).collect()).await;
        compiled.map(Self).map_err(|error| Error::internal(error.to_string()))
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the strictest rule that matches one of the inputs. A rule matches when that cannot be told within the bound.
    pub fn find_strictest<'i>(&self, inputs: impl Iterator<Item = &'i Map<String, Value>>) -> Intervention {
        let (mut steps, mut strictest) = (STEPS_MAX, Intervention::Never);
        for input in inputs {
            for rule in self.0.iter().filter(|rule| rule.arguments.iter().all(|name| input.contains_key(name))) {
                if rule.intervention > strictest && rule.matches(input, &mut steps) {
                    strictest = rule.intervention;
                }
            }
        }
        strictest
    }
}

impl HeapBytes for InterventionRules {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl HeapBytes for CompiledRule {
    fn heap_bytes(&self) -> usize {
        self.arguments.heap_bytes() + self.schema.heap_bytes()
    }
}

impl CompiledRule {
    /// Whether the rule matches an input that has all of its arguments.
    fn matches(&self, input: &Map<String, Value>, steps: &mut u64) -> bool {
        let Some(schema) = &self.schema else { return true };
        let arguments =
            self.arguments.iter().filter_map(|name| Some((name.clone(), input.get(name)?.clone()))).collect();
        let arguments = Value::Object(arguments);
        let accepted = schema.accepts(&arguments, *steps);
        *steps = steps.saturating_sub(schema.price(&arguments).steps);
        accepted.unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn strictest(rules: Value, inputs: Value) -> Intervention {
        let rules = serde_json::from_value(rules).unwrap();
        let inputs: Vec<Map<String, Value>> = serde_json::from_value(inputs).unwrap();
        InterventionRules::compile(rules).await.unwrap().find_strictest(inputs.iter())
    }

    fn payments() -> Value {
        json!([
            {"when": {"amount": {"minimum": 1000}}, "intervention": "always"},
            {"when": {"amount": {"minimum": 100}}, "intervention": "required"},
            {"when": {"to": {"pattern": "@example\\.com$"}, "urgent": {"const": true}}, "intervention": "always"},
        ])
    }

    #[tokio::test]
    async fn the_strictest_rule_that_matches_counts() {
        for (inputs, expected) in [
            (json!([{}]), Intervention::Never),
            (json!([{"amount": 99}]), Intervention::Never),
            (json!([{"amount": 100}]), Intervention::Required),
            (json!([{"amount": 1000}]), Intervention::Always),
            (json!([{"to": "ann@example.com"}]), Intervention::Never),
            (json!([{"to": "ann@example.com", "urgent": true}]), Intervention::Always),
            (json!([{"to": "ann@example.com", "urgent": false, "amount": 500}]), Intervention::Required),
            (json!([{}, {"amount": 100}, {"amount": 1}]), Intervention::Required),
        ] {
            assert_eq!(strictest(payments(), inputs.clone()).await, expected, "{inputs}");
        }
    }

    #[tokio::test]
    async fn long_arguments_that_no_rule_is_about_cost_nothing() {
        let input = json!({"amount": 1, "to": "ann@example.org", "urgent": true, "note": "x".repeat(1_000_000)});
        assert_eq!(strictest(payments(), json!([input])).await, Intervention::Never);
    }

    #[tokio::test]
    async fn what_cannot_be_told_within_the_bound_is_confirmed() {
        let input = json!({"to": "x".repeat(1_000_000), "urgent": true});
        assert_eq!(strictest(payments(), json!([input])).await, Intervention::Always);
        let many: Vec<_> = (0..10).map(|_| json!({"to": "x".repeat(1_000), "urgent": true})).collect();
        assert_eq!(strictest(payments(), json!(many)).await, Intervention::Always, "the bound is one of all inputs");
        assert_eq!(strictest(payments(), json!(many[..1])).await, Intervention::Never);
        let refused = json!([{"when": {"a": {"type": "money"}}, "intervention": "always"}]);
        assert_eq!(strictest(refused.clone(), json!([{"a": 1}])).await, Intervention::Always, "of another release");
        assert_eq!(strictest(refused, json!([{}])).await, Intervention::Never);
    }

    #[test]
    fn a_build_refuses_expensive_rules() {
        let check = |when: Value| {
            check_intervention_rule(&serde_json::from_value(json!({"when": when, "intervention": "always"})).unwrap())
        };
        assert_eq!(check(json!({"to": {"pattern": "@example\\.com$"}, "amount": {"minimum": 100}})), Ok(()));
        assert!(check(json!({"a": {"pattern": r"^[\w.]{1,64}@example\.com$"}})).unwrap_err().contains("too expensive"));
        assert!(check(json!({"a": {"type": "money"}})).unwrap_err().contains("/properties/a/type"));
    }
}
