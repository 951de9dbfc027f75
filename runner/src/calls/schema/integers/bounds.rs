//! The bounds of the types that formats of integers name. Rust's schemas name the type, and list no bounds for wide ones.

use serde_json::{Map, Number, Value};

/// Nesting that is followed. A schema has no more levels.
const DEPTH_MAX: usize = 128;

/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value has a schema for each name.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Keywords whose value is a schema, or for `items` of early drafts a list of them.
const SINGLE: [&str; 9] =
    ["additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"];

/// Adds the bounds of their type to all integers whose format names one, where the schema has none of its own.
#[must_use]
pub fn bound_integers(mut schema: Value) -> Value {
    add_bounds(&mut schema, DEPTH_MAX);
    schema
}

/// Whether a schema names a type, alone or in a list.
pub(super) fn names_type(keywords: &Map<String, Value>, name: &str) -> bool {
    match keywords.get("type") {
        Some(Value::String(own)) => own == name,
        Some(Value::Array(names)) => names.iter().any(|own| own == name),
        _ => false,
    }
}

fn add_bounds(schema: &mut Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Value::Array(schemas) = schema {
        schemas.iter_mut().for_each(|schema| add_bounds(schema, depth));
        return;
    }
    let Value::Object(keywords) = schema else { return };
    if let Some([minimum, maximum]) = find_bounds_of_type(keywords) {
        for (keyword, exclusive, bound) in
            [("minimum", "exclusiveMinimum", minimum), ("maximum", "exclusiveMaximum", maximum)]
        {
            if !keywords.contains_key(exclusive) {
                keywords.entry(keyword).or_insert(Value::Number(bound));
            }
        }
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            (name, Value::Object(named)) if NAMED.contains(&name) => {
                named.values_mut().for_each(|schema| add_bounds(schema, depth));
            }
            (name, value) if LISTS.contains(&name) || SINGLE.contains(&name) => add_bounds(value, depth),
            _ => {}
        }
    }
}

/// The smallest and the largest value of the type that the format of an integer names. `usize` and `isize` have 32 bits in a component.
fn find_bounds_of_type(keywords: &Map<String, Value>) -> Option<[Number; 2]> {
    let is_integer = names_type(keywords, "integer") && !names_type(keywords, "number");
    let format = keywords.get("format").filter(|_| is_integer)?.as_str()?;
    Some(match format {
        "int8" => [i8::MIN.into(), i8::MAX.into()],
        "int16" => [i16::MIN.into(), i16::MAX.into()],
        "int32" | "int" => [i32::MIN.into(), i32::MAX.into()],
        "int64" => [i64::MIN.into(), i64::MAX.into()],
        "uint8" => [u8::MIN.into(), u8::MAX.into()],
        "uint16" => [u16::MIN.into(), u16::MAX.into()],
        "uint32" | "uint" => [u32::MIN.into(), u32::MAX.into()],
        "uint64" => [u64::MIN.into(), u64::MAX.into()],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_has_its_bounds() {
        for (format, minimum, maximum) in [
            ("int8", json!(-128), json!(127)),
            ("uint8", json!(0), json!(255)),
            ("int16", json!(-32_768), json!(32_767)),
            ("uint16", json!(0), json!(65_535)),
            ("int32", json!(i32::MIN), json!(i32::MAX)),
            ("uint32", json!(0), json!(u32::MAX)),
            ("int64", json!(i64::MIN), json!(i64::MAX)),
            ("uint64", json!(0), json!(u64::MAX)),
            ("uint", json!(0), json!(u32::MAX)),
            ("int", json!(i32::MIN), json!(i32::MAX)),
        ] {
            let bounded = bound_integers(json!({"type": "integer", "format": format}));
            assert_eq!((&bounded["minimum"], &bounded["maximum"]), (&minimum, &maximum), "{format}");
        }
        for other in [
            json!({"type": "integer", "format": "date"}),
            json!({"type": "number", "format": "uint32"}),
            json!({"type": "integer"}),
            json!({"const": {"type": "integer", "format": "uint8"}}),
            json!({"default": [{"type": "integer", "format": "uint8"}]}),
        ] {
            assert_eq!(bound_integers(other.clone()), other);
        }
    }

    #[test]
    fn bounds_are_added_in_every_place_and_keep_those_of_the_author() {
        let port = json!({"type": ["integer", "null"], "format": "uint16"});
        let schema = json!({
            "properties": {"a": port, "b": {"items": port}, "c": {"additionalProperties": port}},
            "anyOf": [{"prefixItems": [port]}], "$defs": {"d": port},
        });
        let text = bound_integers(schema).to_string();
        assert_eq!(text.matches("65535").count(), 5, "{text}");
        let own = json!({"type": "integer", "format": "uint32", "exclusiveMinimum": 4, "maximum": 9});
        assert_eq!(bound_integers(own.clone()), own);
    }
}
