//! Rules of intervention that match no call.

use registry::InterventionRule;
use serde_json::Value;

use crate::text::show;

/// Finds rules about arguments that the input schema does not have, and about values that it refuses.
pub fn find(rules: &[InterventionRule], input_schema: &Value) -> Vec<String> {
    let Some(properties) = input_schema["properties"].as_object() else { return Vec::new() };
    // Arguments can come from elsewhere in the schema.
    let is_open = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"]
        .into_iter()
        .any(|keyword| input_schema.get(keyword).is_some());
    let mut found = Vec::new();
    for (number, rule) in rules.iter().enumerate() {
        for (argument, schema) in &rule.when {
            let place = format!("intervention_rules[{number}].when.{}", show(argument));
            match properties.get(argument) {
                None if is_open => {}
                None => {
                    let known: Vec<_> = properties.keys().take(10).map(|name| show(name)).collect();
                    let known = known.join(", ");
                    found.push(format!("{place}: the input schema does not list the argument; it lists: {known}"));
                }
                Some(declared) if excludes(declared, schema) => {
                    found.push(format!("{place}: the rule never matches: the input schema accepts none of its values"));
                }
                Some(_) => {}
            }
        }
    }
    found
}

/// Whether two schemas list values of which none is in both lists.
fn excludes(declared: &Value, asked: &Value) -> bool {
    let (Some(declared), Some(asked)) = (list_values(declared), list_values(asked)) else { return false };
    !asked.iter().any(|value| declared.contains(value))
}

fn list_values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema["enum"].as_array()) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(values)) => Some(values.iter().collect()),
        (None, None) => None,
    }
}
