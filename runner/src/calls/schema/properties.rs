//! Generated schemas and inputs: matching takes no more steps than its price says.
//!
//! Every part of a generated schema has the keyword `x-step`, which counts how often the crate matches it. Schemas with
//! `uniqueItems` also have `x-whole`, which counts the values below.

use std::cell::Cell;

use jsonschema::{Keyword, ValidationError};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::compiled::{EXPLAINED_MAX, build_options};
use super::walk::price;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Names of members. Some are names of keywords.
const NAMES: &[&str] = &["a", "b", "c", "a", "b", "c", "enum", "properties", "items"];

fn count(steps: u64) {
    STEPS.with(|counted| counted.set(counted.get() + steps));
}

struct Step;
struct Whole;

impl<'i> Keyword<'i> for Step {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        self.is_valid(instance);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        count(1);
        true
    }
}

impl<'i> Keyword<'i> for Whole {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        self.is_valid(instance);
        Ok(())
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        count(if instance.is_array() { values(instance) } else { 1 });
        true
    }
}

fn values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<u64>(),
        _ => 1,
    }
}

/// The operation whose steps are counted.
#[derive(Clone, Copy)]
enum Asked {
    WhetherItMatches,
    WhyNot,
}

/// Steps that the crate takes; `None` when it refuses the schema.
fn counted(schema: &Value, input: &Value, asked: Asked) -> Option<u64> {
    let options = build_options().with_keyword("x-step", |_, _, _| Ok(Box::new(Step) as Box<dyn for<'i> Keyword<'i>>));
    let options = options.with_keyword("x-whole", |_, _, _| Ok(Box::new(Whole) as Box<dyn for<'i> Keyword<'i>>));
    let validator = options.build(schema).ok()?;
    STEPS.with(|counted| counted.set(0));
    match asked {
        Asked::WhetherItMatches => {
            let _ = validator.is_valid(input);
        }
        Asked::WhyNot => validator.iter_errors(input).for_each(drop),
    }
    Some(STEPS.with(Cell::get))
}

fn part(mut schema: Value) -> Value {
    schema["x-step"] = json!(true);
    schema
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"multipleOf": 0.5})),
        Just(json!({"minimum": -1_000})),
        Just(json!({"maxLength": 1_000})),
        Just(json!({"pattern": "^[a-z]*$"})),
        Just(json!({"uniqueItems": true, "x-whole": true})),
        Just(json!({"items": {"$ref": "#/$defs/one"}})),
        Just(json!({"properties": {"a": {"$ref": "#/$defs/one"}}})),
        Just(json!({"properties": {"b": {"$ref": "#/$defs/one"}}, "additionalProperties": {"$ref": "#"}})),
        Just(json!({"items": {"$ref": "#"}, "contains": {"$ref": "#/$defs/one"}})),
    ];
    leaf.prop_map(part).prop_recursive(4, 24, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4);
        let named = proptest::collection::btree_map("[abc]", inner.clone(), 1..3);
        let composed = prop_oneof![
            named.clone().prop_map(|named| json!({"properties": named})),
            (named.clone(), inner.clone())
                .prop_map(|(named, other)| json!({"patternProperties": named, "additionalProperties": other})),
            inner.clone().prop_map(|names| json!({"propertyNames": names})),
            (list.clone(), inner.clone()).prop_map(|(list, rest)| json!({"prefixItems": list, "items": rest})),
            inner.clone().prop_map(|items| json!({"items": items, "uniqueItems": true, "x-whole": true})),
            inner.clone().prop_map(|one| json!({"contains": one, "minContains": 0})),
            list.clone().prop_map(|all| json!({"allOf": all})),
            list.clone().prop_map(|any| json!({"anyOf": any})),
            list.clone().prop_map(|one| json!({"oneOf": one})),
            inner.clone().prop_map(|not| json!({"not": {"not": not}})),
            named.prop_map(|named| json!({"dependentSchemas": named})),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
        ];
        composed.prop_map(part)
    })
}

/// Schemas with properties named like keywords, and with references to any part.
fn confusing() -> impl Strategy<Value = Value> {
    const REFERENCES: &[&str] = &["#", "#/$defs/a", "#/$defs/enum", "#/properties/a", "#/items", "#/anyOf/0", "#/not"];
    const BY_NAME: &[&str] = &["$defs", "dependencies", "dependentSchemas", "patternProperties", "properties"];
    const SINGLE: &[&str] =
        &["additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"];
    const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(REFERENCES).prop_map(|reference| part(json!({"$ref": reference}))),
        Just(part(json!({"dependencies": {"a": ["b"], "enum": ["a"]}}))),
        Just(part(json!({"required": ["a", "enum"], "enum": [{"a": [1]}, [[]]]}))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let named = proptest::collection::btree_map(prop::sample::select(NAMES), inner.clone(), 0..3);
        let by_name = (prop::sample::select(BY_NAME), named.prop_map(|named| json!(named)));
        let single = (prop::sample::select(SINGLE), inner.clone());
        let list = proptest::collection::vec(inner, 1..3).prop_map(Value::from);
        let keyword = prop_oneof![2 => by_name, 1 => single, 1 => (prop::sample::select(LISTS), list)];
        proptest::collection::vec(keyword, 1..4).prop_map(|keywords| {
            let keywords = keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value));
            part(Value::Object(keywords.collect()))
        })
    })
}

/// A document with the definition that its references name.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema()).prop_map(|(mut root, one)| {
        root["$defs"] = json!({"one": one});
        root
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), (0..9_i64).prop_map(Value::from), "[a-z]{0,40}".prop_map(Value::from)];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let members = proptest::collection::btree_map(prop::sample::select(NAMES), inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Value::from),
            members.prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn matching_takes_no_more_steps_than_its_price(schema in document(), input in value()) {
        within_price(&schema, &input)?;
    }

    #[test]
    fn no_confusing_document_takes_more_steps_than_its_price(schema in confusing(), input in value()) {
        within_price(&schema, &input)?;
    }

    /// An input of twice the length costs at most twice as much, unless the schema is recursive.
    #[test]
    fn a_price_grows_no_faster_than_its_input(schema in schema(), input in value()) {
        let schema = json!({"items": schema, "$defs": {"one": {}}});
        let Ok(cost) = price(&schema) else { return Ok(()) };
        let of = |times: usize| cost.with(&json!(vec![input.clone(); times])).steps;
        prop_assert!(of(20) <= 2 * of(10), "{} {}", of(10), of(20));
    }
}

fn within_price(schema: &Value, input: &Value) -> Result<(), TestCaseError> {
    let Ok(cost) = price(schema) else { return Ok(()) };
    let (expected, explained) = (cost.with(input).steps, cost.price_explanation(input));
    if expected <= EXPLAINED_MAX {
        let steps = counted(schema, input, Asked::WhetherItMatches).unwrap_or_default();
        prop_assert!(steps <= expected, "{steps} steps of {expected}: {schema} {input}");
        let steps = counted(schema, input, Asked::WhyNot).unwrap_or_default();
        prop_assert!(steps <= 2 * explained, "{steps} steps of {explained} to explain: {schema} {input}");
    }
    Ok(())
}

#[test]
fn inputs_that_once_exceeded_their_price_stay_within_it() -> Result<(), String> {
    // Items with the same hash in the implementation of the crate.
    let shapes = |count: usize| {
        let shape = |number: usize| {
            (0..12)
                .fold(json!([]), |inner, bit| if number >> bit & 1 == 1 { json!([inner, []]) } else { json!([inner]) })
        };
        json!((0..count).map(shape).collect::<Vec<_>>())
    };
    let unique = json!({"uniqueItems": true, "x-whole": true});
    let cost = price(&unique)?;
    for count in [100, 200, 400, 800] {
        let input = shapes(count);
        let steps = counted(&unique, &input, Asked::WhetherItMatches);
        assert!(steps.is_some_and(|steps| steps <= cost.with(&input).steps), "{steps:?} for {count}");
    }
    assert!(cost.with(&shapes(800)).steps <= 9 * cost.with(&shapes(100)).steps);
    Ok(())
}
