//! `multipleOf`, exact and in constant time.
//!
//! The `jsonschema` crate divides fractions of a thousand bits when a number or its divisor is very large or very
//! small. One such division takes as long as a thousand other keywords. A finite float has at most 17 decimal digits
//! and an exponent, so that 128-bit integers are enough for the remainder.

use jsonschema::{Keyword, ValidationError};
use serde_json::{Number, Value};

/// The keyword with its divisor.
pub struct MultipleOf {
    text: String,
    divisor: Decimal,
}

impl MultipleOf {
    /// # Errors
    /// When the value is not a number above zero.
    pub fn new(value: &Value) -> Result<Self, String> {
        let divisor = value.as_number().and_then(Decimal::of).filter(|divisor| divisor.digits > 0);
        let divisor = divisor.ok_or_else(|| "multipleOf must be a number greater than 0".to_owned())?;
        Ok(Self { text: value.to_string(), divisor })
    }
}

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("value is not a multiple of {}", self.text)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let Some(number) = instance.as_number() else { return true };
        Decimal::of(number).is_some_and(|number| number.is_multiple_of(&self.divisor))
    }
}

/// `digits` times ten to the power of `exponent`, without a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    /// Converts a number. `None` only for a form that no JSON number has.
    fn of(number: &Number) -> Option<Self> {
        if let Some(digits) = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)) {
            return Some(Self { digits, exponent: 0 });
        }
        // The shortest digits of this float, such as `1.25e-7`.
        let text = format!("{:e}", number.as_f64()?.abs());
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some(Self { digits: format!("{whole}{fraction}").parse().ok()?, exponent })
    }

    fn is_multiple_of(self, divisor: &Self) -> bool {
        if self.digits == 0 {
            return true;
        }
        let (digits, of) = (u128::from(self.digits), u128::from(divisor.digits));
        let shift = self.exponent.saturating_sub(divisor.exponent);
        let power = shift.unsigned_abs();
        if shift >= 0 {
            return (digits % of * compute_power_of_ten(power, of)).is_multiple_of(of);
        }
        // A divisor beyond 128 bits is larger than any number with the exponent 0.
        let scaled = 10_u128.checked_pow(power).and_then(|power| of.checked_mul(power));
        scaled.is_some_and(|scaled| digits % scaled == 0)
    }
}

/// Ten to a power, modulo a number below 2^64.
fn compute_power_of_ten(mut power: u32, modulus: u128) -> u128 {
    let (mut result, mut square) = (1 % modulus, 10 % modulus);
    while power > 0 {
        if power & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        power >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(number: Value, divisor: Value, expected: bool) {
        assert_eq!(MultipleOf::new(&divisor).unwrap().is_valid(&number), expected, "{number} of {divisor}");
    }

    #[test]
    fn decimals_are_divided_as_they_are_written() {
        for (number, divisor, expected) in [
            (json!(7), json!(3), false),
            (json!(9), json!(3), true),
            (json!(-9), json!(3), true),
            (json!(0), json!(0.1), true),
            (json!(-0.0), json!(7), true),
            (json!(0.3), json!(0.1), true),
            (json!(19.99), json!(0.01), true),
            (json!(19.995), json!(0.01), false),
            (json!(4.0), json!(2), true),
            (json!(0.5), json!(1), false),
            (json!(1e300), json!(0.01), true),
            (json!(1e300), json!(3), false),
            (json!(3e300), json!(3), true),
            (json!(1.797_693_134_862_315_7e308), json!(5e-324), true),
            (json!(5e-324), json!(5e-324), true),
            (json!(5e-324), json!(1), false),
            (json!(u64::MAX), json!(u64::MAX), true),
            (json!(u64::MAX), json!(3), true),
            (json!(u64::MAX), json!(2), false),
            (json!("text"), json!(3), true),
        ] {
            check(number, divisor, expected);
        }
        for divisor in [json!(0), json!("1"), json!(null)] {
            assert!(MultipleOf::new(&divisor).is_err(), "{divisor}");
        }
    }

    proptest! {
        /// Against the same remainder in whole numbers of 128 bits.
        #[test]
        fn small_decimals_agree_with_whole_numbers(
            number in -1_000_000_i64..1_000_000,
            divisor in 1_i64..10_000,
            places in (0_u32..6, 0_u32..6),
        ) {
            let float = |value: i64, places: u32| -> Value {
                serde_json::from_str(&format!("{value}e-{places}")).unwrap()
            };
            let scaled = |value: i64, places: u32| i128::from(value) * 10_i128.pow(places);
            let expected = scaled(number, places.1) % scaled(divisor, places.0) == 0;
            let keyword = MultipleOf::new(&float(divisor, places.1)).unwrap();
            prop_assert_eq!(keyword.is_valid(&float(number, places.0)), expected);
        }
    }
}
