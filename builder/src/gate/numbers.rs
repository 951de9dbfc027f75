//! Comparison of the numbers in schemas, without errors from rounding.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// The magnitude up to which every integer is exactly a float.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The order of two numbers. `None` when rounding makes it uncertain.
pub fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        return Some(one.cmp(&other));
    }
    let (one, other) = (one.as_f64()?, other.as_f64()?);
    let is_exact = |number: f64| number.abs() < EXACT_MAX;
    (is_exact(one) || is_exact(other)).then(|| one.partial_cmp(&other)).flatten()
}

pub fn find_number<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Option<&'a Number> {
    match schema.get(keyword) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// The count in a keyword, which may be written as a float.
pub fn count(schema: &Map<String, Value>, keyword: &str) -> Option<u64> {
    let number = find_number(schema, keyword)?;
    let float = || number.as_f64().filter(|float| (0.0..EXACT_MAX).contains(float) && float.fract() == 0.0);
    number.as_u64().or_else(|| float().map(|float| float as u64))
}

/// Whether a part of the old schema implies a bound of the new one.
pub fn implies_bound(old: &Map<String, Value>, keyword: &str, bound: &Number) -> bool {
    let holds = |keyword: &str, wanted: &[Ordering]| {
        find_number(old, keyword).and_then(|old| compare(old, bound)).is_some_and(|order| wanted.contains(&order))
    };
    use Ordering::{Equal, Greater, Less};
    match keyword {
        "minimum" => holds("minimum", &[Greater, Equal]) || holds("exclusiveMinimum", &[Greater, Equal]),
        "exclusiveMinimum" => holds("minimum", &[Greater]) || holds("exclusiveMinimum", &[Greater, Equal]),
        "maximum" => holds("maximum", &[Less, Equal]) || holds("exclusiveMaximum", &[Less, Equal]),
        "exclusiveMaximum" => holds("maximum", &[Less]) || holds("exclusiveMaximum", &[Less, Equal]),
        _ => false,
    }
}

/// Whether all multiples of the old number are multiples of the new one.
pub fn is_multiple(old: &Number, new: &Number) -> bool {
    match (old.as_i128(), new.as_i128()) {
        (Some(old), Some(new)) => new != 0 && old % new == 0,
        _ => old == new,
    }
}
