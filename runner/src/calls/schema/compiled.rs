//! A compiled schema, and the violations of inputs.

use std::cell::OnceCell;

use jsonschema::{Keyword, PatternOptions, ValidationError, ValidationOptions, Validator};
use registry::HeapBytes;
use serde_json::Value;

use super::cost::Cost;
use super::explain::{FindSchema, explain};
use super::keywords::{MultipleOf, UniqueItems};
use super::patterns::COMPILED_BYTES_MAX;
use super::walk;
use super::wire::Document;
use crate::error::SchemaViolation;
use crate::text::cut;

/// The types of JSON Schema.
const TYPES: &str = "object, array, string, number, integer, boolean or null, or a list of them";
/// Violations that are listed. If there are more, the last one says so.
const VIOLATIONS_MAX: usize = 20;
const LEFT_OUT: &str = "further violations are left out";
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
    document: Document,
}

/// The parts of a schema that matching needs.
#[derive(Clone, Copy)]
pub struct SchemaParts<'s> {
    pub validator: &'s Validator,
    pub cost: &'s Cost,
    pub document: &'s Document,
}

impl CompiledSchema {
    pub fn new(schema: &Value) -> Result<Self, String> {
        let document = Document::of(schema).map_err(|error| error.to_string())?;
        Ok(Self { cost: walk::price(schema)?, validator: build_validator(schema)?, document })
    }

    pub fn find_violations(&self, inputs: &[Value]) -> Vec<SchemaViolation> {
        SchemaParts { validator: &self.validator, cost: &self.cost, document: &self.document }.find_violations(inputs)
    }
}

impl SchemaParts<'_> {
    /// The violations of the inputs, up to a bound.
    pub fn find_violations(self, inputs: &[Value]) -> Vec<SchemaViolation> {
        let schemas = LazySchemas { document: self.document, schema: OnceCell::new() };
        let one = |(index, input)| find_violations_of_one(self, &schemas, index, input);
        let mut found: Vec<_> = inputs.iter().enumerate().flat_map(one).take(VIOLATIONS_MAX + 1).collect();
        if found.len() > VIOLATIONS_MAX {
            found.truncate(VIOLATIONS_MAX);
            if let Some(last) = found.last_mut() {
                (last.pointer, last.message) = (String::new(), LEFT_OUT.to_owned());
            }
        }
        found
    }
}

/// A schema that is read again when a violation needs the names of its properties.
struct LazySchemas<'s> {
    document: &'s Document,
    schema: OnceCell<Value>,
}

impl FindSchema for LazySchemas<'_> {
    fn find_properties_beside(&self, keyword: &str) -> Vec<String> {
        let schema = self.schema.get_or_init(|| self.document.read_value().unwrap_or_default());
        let beside = keyword.rsplit_once('/').and_then(|(object, _)| schema.pointer(object));
        let properties = beside.and_then(|object| object["properties"].as_object());
        properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
    }
}

fn find_violations_of_one(
    SchemaParts { validator, cost, .. }: SchemaParts<'_>,
    schemas: &LazySchemas<'_>,
    input_index: usize,
    input: &Value,
) -> Vec<SchemaViolation> {
    if validator.is_valid(input) {
        return Vec::new();
    }
    if cost.price_explanation(input) > EXPLAINED_MAX {
        let message = "does not match the tool's schema; the input is too large to list its violations".into();
        return vec![SchemaViolation { input_index, pointer: String::new(), message }];
    }
    let violation = |error: ValidationError<'_>| SchemaViolation {
        input_index,
        // An input may have names of a megabyte, and each violation below one would repeat it.
        pointer: cut(error.instance_path().to_string(), POINTER_BYTES_MAX),
        message: cut(explain(&error, schemas), MESSAGE_BYTES_MAX),
    };
    validator.iter_errors(input).take(VIOLATIONS_MAX + 1).map(violation).collect()
}

/// Compiles a schema.
///
/// # Errors
/// The reason why the document is not a valid schema, with a JSON pointer to the place.
pub fn build_validator(schema: &Value) -> Result<Validator, String> {
    build_options().build(schema).map_err(|error| {
        let pointer = error.instance_path().to_string();
        match schema.pointer(&pointer) {
            _ if pointer.is_empty() => error.to_string(),
            Some(value) if is_type(&pointer) => format!("{pointer}: {value} is no type; use {TYPES}"),
            _ => format!("{pointer}: {error}"),
        }
    })
}

/// Estimates the bytes of a validator: it holds the schema, a part for each keyword, and compiled patterns.
pub fn estimate_bytes(schema: &Value, cost: &Cost) -> usize {
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

pub(super) fn build_options() -> ValidationOptions<'static> {
    let patterns = PatternOptions::regex().size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
    jsonschema::options()
        .with_pattern_options(patterns)
        .with_keyword("multipleOf", |_, value, _| box_keyword(MultipleOf::new(value)))
        .with_keyword("uniqueItems", |_, value, _| box_keyword(UniqueItems::new(value)))
}

/// Boxes a keyword implementation for the `jsonschema` crate.
fn box_keyword<'a, K>(keyword: Result<K, String>) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>>
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

    #[track_caller]
    fn check_told(schema: &Value, input: Value, expected: &str) {
        let violations = CompiledSchema::new(schema).unwrap().find_violations(&[input]);
        let told: Vec<_> = violations.iter().map(|violation| violation.message.as_str()).collect();
        assert_eq!(told, [expected]);
    }

    #[test]
    fn a_violation_lists_what_the_schema_expects() {
        let units = json!({"enum": ["celsius", "fahrenheit", "kelvin", "rankine", "reaumur"]});
        check_told(
            &units,
            json!("kelvinn"),
            r#"value is not one of "celsius", "fahrenheit", "kelvin", "rankine", "reaumur"; did you mean `kelvin`?"#,
        );
        let many = json!({"enum": (0..1000).collect::<Vec<_>>()});
        let told = &CompiledSchema::new(&many).unwrap().find_violations(&[json!("x")])[0].message;
        assert!(told.starts_with("value is not one of 0, 1, 2, ") && told.ends_with(" more"), "{told}");
        assert!(told.len() < 400, "{told}");
        check_told(&json!({"const": "a"}), json!(1), "value is not \"a\"");
        let closed = json!({"properties": {"city": {}, "unit": {}}, "additionalProperties": false});
        let expected = "`citty` is no property of the schema, which has `city`, `unit`; did you mean `city`?";
        check_told(&closed, json!({"citty": 1}), expected);
        let within = json!({"$ref": "#/$defs/closed", "$defs": {"closed": closed}});
        check_told(&within, json!({"citty": 1}), expected);
        let needed = json!({"required": ["city"]});
        check_told(&needed, json!({"cty": 1}), "\"city\" is a required property, and not `cty`");
        check_told(&needed, json!({}), "\"city\" is a required property");
    }

    #[test]
    fn a_violation_of_alternatives_is_about_the_one_that_was_meant() {
        let nullable = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        check_told(&nullable, json!(5), "value is not of type string or null");
        let tagged = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
            {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        ]});
        check_told(
            &tagged,
            json!({"kind": "sqare", "side": 2}),
            "/kind is not one of \"circle\", \"square\"; did you mean `square`?",
        );
        check_told(&tagged, json!({"kind": "square", "side": "2"}), "/side: value is not of type \"number\"");
        check_told(&tagged, json!({"kind": "square"}), "\"side\" is a required property");
        let open = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        let expected =
            "value matches none of 2 alternatives: \"a\" is a required property; or \"b\" is a required property";
        check_told(&open, json!({}), expected);
        let deep = (0..5).fold(json!({"type": "null"}), |inner, _| json!({"anyOf": [inner, {"minimum": 5}]}));
        let told = CompiledSchema::new(&deep).unwrap().find_violations(&[json!(1)]);
        assert!(told[0].message.len() <= MESSAGE_BYTES_MAX + 20, "{told:?}");
    }

    #[test]
    fn violations_do_not_repeat_values_of_the_input() {
        let schema = json!({"propertyNames": {"maxLength": 3}, "additionalProperties": {"not": {"type": "string"}}});
        let told = CompiledSchema::new(&schema).unwrap().find_violations(&[json!({"hunter2": "s3cret"})]);
        assert!(!told.is_empty() && told.iter().all(|told| !told.message.contains("s3cret")), "{told:?}");
        assert!(told.iter().all(|told| !told.message.contains("hunter2")), "{told:?}");
    }

    #[test]
    fn the_last_violation_says_that_there_are_more() {
        let schema = CompiledSchema::new(&json!({"items": {"type": "integer"}})).unwrap();
        let last = |count: usize| schema.find_violations(&[json!(vec!["x"; count])]).pop().unwrap();
        assert_eq!(
            (last(VIOLATIONS_MAX).pointer.as_str(), last(VIOLATIONS_MAX + 1).message.as_str()),
            ("/19", LEFT_OUT)
        );
    }

    #[test]
    fn violations_do_not_repeat_a_long_name() {
        let schema = json!({"additionalProperties": {"items": {"type": "integer"}}});
        let input = json!({("n".repeat(100_000)): vec!["x"; 20]});
        let violations = CompiledSchema::new(&schema).unwrap().find_violations(&[input]);
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
            compiled.find_violations(&[json!({"n": 19.99, "l": [[1, 2]]}), json!({"n": 0.001, "l": [[], [1, 1.0]]})]);
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
