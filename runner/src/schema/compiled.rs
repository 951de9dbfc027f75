//! A compiled schema, and the violations of inputs.

use jsonschema::{Keyword, PatternOptions, ValidationError, ValidationOptions, Validator};
use registry::HeapBytes;
use serde_json::Value;

use super::cost::Cost;
use super::keywords::{MultipleOf, UniqueItems};
use super::patterns::COMPILED_BYTES_MAX;
use super::walk;
use crate::error::SchemaViolation;
use crate::text::cut;

/// The types of JSON Schema.
const TYPES: &str = "object, array, string, number, integer, boolean or null, or a list of them";
/// Violations that are listed.
const VIOLATIONS_MAX: usize = 20;
/// Bytes of a validator for each byte of its schema, apart from its patterns.
const COPIES: usize = 3;
/// Bytes of a validator for each step of compiling it.
const BYTES_OF_STEP: usize = 1;
/// Longest message. It quotes the schema, which may be long.
const MESSAGE_BYTES_MAX: usize = 500;
/// Longest place of a violation in an input.
const POINTER_BYTES_MAX: usize = 1_000;
/// Price up to which violations are explained: the steps of the input times the nesting of the schema, since each
/// `anyOf` matches what is below it once more. Each step may become an error in memory.
pub(super) const EXPLAINED_MAX: u64 = 1_000_000;

/// A schema that is compiled in this process.
pub struct CompiledSchema {
    validator: Validator,
    cost: Cost,
}

impl CompiledSchema {
    pub fn new(schema: &Value) -> Result<Self, String> {
        Ok(Self { cost: walk::price(schema)?, validator: validator(schema)? })
    }

    pub fn violations(&self, inputs: &[Value]) -> Vec<SchemaViolation> {
        violations(&self.validator, &self.cost, inputs)
    }
}

/// The violations of the inputs, up to a bound.
pub fn violations(validator: &Validator, cost: &Cost, inputs: &[Value]) -> Vec<SchemaViolation> {
    let one = |(index, input)| violations_of_one(validator, cost, (index, input));
    inputs.iter().enumerate().flat_map(one).take(VIOLATIONS_MAX).collect()
}

fn violations_of_one(
    validator: &Validator,
    cost: &Cost,
    (input_index, input): (usize, &Value),
) -> Vec<SchemaViolation> {
    if validator.is_valid(input) {
        return Vec::new();
    }
    if cost.explained(input) > EXPLAINED_MAX {
        let message = "does not match the tool's schema; the input is too large to list its violations".into();
        return vec![SchemaViolation { input_index, pointer: String::new(), message }];
    }
    let violation = |error: ValidationError<'_>| SchemaViolation {
        input_index,
        // An input may have names of a megabyte, and each violation below one would repeat it.
        pointer: cut(error.instance_path().to_string(), POINTER_BYTES_MAX),
        message: cut(error.masked().to_string(), MESSAGE_BYTES_MAX),
    };
    validator.iter_errors(input).take(VIOLATIONS_MAX).map(violation).collect()
}

/// Compiles a schema.
///
/// # Errors
/// The reason why the document is not a valid schema, with a JSON pointer to the place.
pub fn validator(schema: &Value) -> Result<Validator, String> {
    options().build(schema).map_err(|error| {
        let pointer = error.instance_path().to_string();
        match schema.pointer(&pointer) {
            _ if pointer.is_empty() => error.to_string(),
            Some(value) if is_type(&pointer) => format!("{pointer}: {value} is no type; use {TYPES}"),
            _ => format!("{pointer}: {error}"),
        }
    })
}

/// Estimates the bytes of a validator: it holds the schema, a part for each keyword, and compiled patterns.
pub fn bytes(schema: &Value, cost: &Cost) -> usize {
    let patterns = usize::try_from(cost.steps.compile).unwrap_or(usize::MAX).saturating_mul(BYTES_OF_STEP);
    (COPIES * schema.heap_bytes()).saturating_add(patterns)
}

/// Whether a pointer leads to the keyword `type`, and not to a property of this name.
fn is_type(pointer: &str) -> bool {
    let mut parts = pointer.rsplit('/');
    parts.next() == Some("type")
        && !parts.next().is_some_and(|parent| {
            matches!(parent, "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas")
        })
}

pub(super) fn options() -> ValidationOptions<'static> {
    let patterns = PatternOptions::regex().size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
    jsonschema::options()
        .with_pattern_options(patterns)
        .with_keyword("multipleOf", |_, value, _| boxed(MultipleOf::new(value)))
        .with_keyword("uniqueItems", |_, value, _| boxed(UniqueItems::new(value)))
}

/// Boxes a keyword implementation for the `jsonschema` crate.
fn boxed<'a, K>(keyword: Result<K, String>) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>>
where
    K: for<'i> Keyword<'i> + 'static,
{
    match keyword {
        Ok(keyword) => Ok(Box::new(keyword)),
        Err(problem) => Err(ValidationError::schema(problem)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_misspelt_type_is_told() {
        let problem = |schema: Value| CompiledSchema::new(&schema).err().expect("refused");
        let said = problem(json!({"type": "objekt"}));
        assert!(said.starts_with("/type: \"objekt\" is no type; use object, array, string"), "{said}");
        assert!(problem(json!({"properties": {"a": {"type": 5}}})).starts_with("/properties/a/type: 5 is no type"));
        assert!(!problem(json!({"properties": {"type": 5}})).contains("is no type"));
    }

    #[test]
    fn violations_do_not_repeat_a_long_name() {
        let schema = json!({"additionalProperties": {"items": {"type": "integer"}}});
        let input = json!({("n".repeat(100_000)): vec!["x"; 20]});
        let violations = CompiledSchema::new(&schema).unwrap().violations(&[input]);
        assert_eq!(violations.len(), 20);
        let bytes: usize = violations.iter().map(|violation| violation.pointer.len() + violation.message.len()).sum();
        assert!(bytes < 20 * (POINTER_BYTES_MAX + MESSAGE_BYTES_MAX + 10), "{bytes}");
    }

    #[test]
    fn own_keywords_report_the_same_violations_as_the_crate() {
        let schema = json!({"properties": {
            "n": {"multipleOf": 0.01}, "l": {"items": {"type": "array", "uniqueItems": true}},
        }});
        let compiled = CompiledSchema::new(&schema).unwrap();
        let violations =
            compiled.violations(&[json!({"n": 19.99, "l": [[1, 2]]}), json!({"n": 0.001, "l": [[], [1, 1.0]]})]);
        let listed: Vec<_> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(listed.len(), 2, "{listed:?}");
        assert!(
            listed.contains(&"inputs[1].input_parameters/n: value is not a multiple of 0.01".to_owned()),
            "{listed:?}"
        );
        assert!(
            listed.contains(&"inputs[1].input_parameters/l/1: value has non-unique elements".to_owned()),
            "{listed:?}"
        );
        assert!(CompiledSchema::new(&json!({"multipleOf": 0})).is_err());
    }
}
