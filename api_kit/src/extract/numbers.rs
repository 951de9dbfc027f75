//! Whole numbers in JSON: 3.0 is a whole number, as 3 is.

use std::ops::RangeInclusive;

use serde_json::Number;

/// Every whole number in this range has a float that equals only it. Beyond it, several whole numbers share one float.
const WHOLE_FLOATS: RangeInclusive<f64> = -9_007_199_254_740_991.0..=9_007_199_254_740_991.0;

/// The whole number that a JSON number stands for, if it stands for one.
pub(super) fn find_whole(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within bounds")]
    WHOLE_FLOATS.contains(&float).then_some(float as i64)
}
