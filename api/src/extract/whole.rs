//! Whole numbers: JSON has one kind of number, so that 3.0 is as whole as 3.

use serde_json::{Number, Value};

/// Beyond these a float has no neighbours at a distance of one, so that it is no whole number anybody wrote.
const WHOLE_FLOATS: std::ops::RangeInclusive<f64> = -9_007_199_254_740_991.0..=9_007_199_254_740_991.0;

/// The value with every whole number written as one.
pub(crate) fn with_whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, with_whole_numbers(value))).collect(),
        other => other,
    }
}

/// A float as the whole number that it is.
pub(super) fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within bounds")]
    WHOLE_FLOATS.contains(&float).then(|| Number::from(float as i64))
}
