//! `uniqueItems`, in time that grows with the size of the list.
//!
//! The `jsonschema` crate hashes a value without the bounds of its lists. `[]`, `[[]]` and `[[], []]` have the same
//! hash there, and every item is compared with every other. Here each value is hashed with its kind and its length, by
//! a hash function with a random key, so that only equal items have the same hash.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

use jsonschema::{Keyword, ValidationError};
use serde_json::{Number, Value};

/// The keyword with its value. `false` accepts every list.
pub struct UniqueItems(bool);

impl UniqueItems {
    /// # Errors
    /// When the value is not a boolean.
    pub fn new(value: &Value) -> Result<Self, String> {
        value.as_bool().map(Self).ok_or_else(|| "uniqueItems must be true or false".to_owned())
    }
}

impl<'i> Keyword<'i> for UniqueItems {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("value has non-unique elements")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        match instance {
            Value::Array(items) if self.0 && items.len() > 1 => are_unique(items),
            _ => true,
        }
    }
}

fn are_unique(items: &[Value]) -> bool {
    let keys = RandomState::new();
    let mut seen = HashSet::with_capacity_and_hasher(items.len(), keys.clone());
    items.iter().all(|item| seen.insert(Item { value: item, keys: &keys }))
}

/// A value that is compared by the rules of JSON Schema: `1` equals `1.0`.
struct Item<'v, 'k> {
    value: &'v Value,
    keys: &'k RandomState,
}

impl PartialEq for Item<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        are_equal(self.value, other.value)
    }
}

impl Eq for Item<'_, '_> {}

impl Hash for Item<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let of = |value| Item { value, keys: self.keys };
        match self.value {
            Value::Null => state.write_u8(0),
            Value::Bool(value) => (1_u8, value).hash(state),
            Value::Number(number) => (2_u8, Magnitude::of(number)).hash(state),
            Value::String(text) => (3_u8, text).hash(state),
            Value::Array(items) => {
                (4_u8, items.len()).hash(state);
                items.iter().for_each(|item| of(item).hash(state));
            }
            Value::Object(members) => {
                // Hashes are added, since the order of members does not matter.
                let hash = |(name, value)| self.keys.hash_one((name, of(value)));
                let sum = members.iter().map(hash).fold(0_u64, u64::wrapping_add);
                (5_u8, members.len(), sum).hash(state);
            }
        }
    }
}

fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => Magnitude::of(one) == Magnitude::of(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| are_equal(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// The canonical form of a number.
#[derive(PartialEq, Eq, Hash)]
enum Magnitude {
    Whole(i128),
    /// The bits of a float with a fraction, or beyond all integers of JSON.
    Float(u64),
}

impl Magnitude {
    /// Every float of this size is a whole number that fits into `i128`.
    const WHOLE_MAX: f64 = 1e30;

    fn of(number: &Number) -> Self {
        if let Some(whole) = number.as_i128() {
            return Self::Whole(whole);
        }
        let float = number.as_f64().unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below the bound")]
        if float.fract() == 0.0 && float.abs() < Self::WHOLE_MAX {
            Self::Whole(float as i128)
        } else {
            Self::Float(float.to_bits())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_items_of_any_kind_are_found() {
        for (items, expected) in [
            (json!([]), true),
            (json!([1]), true),
            (json!([1, 2]), true),
            (json!([1, 1.0]), false),
            (json!([0, -0.0]), false),
            (json!([1e30, 1e30]), false),
            (json!([[], [[]], [[], []], [[[]]]]), true),
            (json!([[[], []], [[], []]]), false),
            (json!([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]), false),
            (json!([{"a": 1, "b": 2}, {"a": 2, "b": 1}]), true),
            (json!([u64::MAX, u64::MAX - 1]), true),
            (json!(["1", 1, true, null, [], {}]), true),
        ] {
            assert_eq!(UniqueItems(true).is_valid(&items), expected, "{items}");
            assert!(UniqueItems(false).is_valid(&items));
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            (-2_i64..3).prop_map(Value::from),
            (-2_i64..3).prop_map(|number| json!(number as f64)),
            "[ab]?".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 8, 3, |inner| {
            let object = proptest::collection::btree_map("[ab]", inner.clone(), 0..3);
            prop_oneof![
                proptest::collection::vec(inner, 0..3).prop_map(Value::from),
                object.prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_answer_is_that_of_comparing_each_with_each(items in proptest::collection::vec(value(), 0..6)) {
            let pairs = items.iter().enumerate().flat_map(|(index, one)| items[..index].iter().map(move |other| (one, other)));
            let expected = pairs.clone().all(|(one, other)| !are_equal(one, other));
            prop_assert_eq!(UniqueItems(true).is_valid(&Value::from(items.clone())), expected);
        }
    }
}
