//! The names, texts and numbers of a recorded input, one on each line.
//!
//! The writer of the store takes them from inputs of a megabyte while all other writes wait. So the document is read in one pass, and no
//! value of it is made: a document of small arrays takes eighty times the memory of its text, and most of the time to make and drop it.

use std::fmt::{self, Write};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Bytes of a text from which words are taken, and bytes of these words. Outputs are shorter; exceptions and inputs may be
/// longer.
pub(crate) const FIELD_BYTES_MAX: usize = 256 * 1024;

/// The member of a recorded input that is searched.
const PARAMETERS: &str = "input_parameters";

/// Returns the text of an input, which ends soon after [`FIELD_BYTES_MAX`]. `None` for a document that is damaged.
pub(super) fn extract_input_text(input: &str) -> Option<String> {
    let mut text = String::new();
    let mut document = serde_json::Deserializer::from_str(input);
    Document(&mut text).deserialize(&mut document).ok()?;
    document.end().ok()?;
    Some(text)
}

/// The whole input, of which the parameters are read.
struct Document<'t>(&'t mut String);

/// A value in the parameters. The deserializer bounds its depth.
struct Part<'t>(&'t mut String);

/// The name of a member.
struct Name<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a recorded input")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == PARAMETERS {
                members.next_value_seed(Part(self.0))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl Part<'_> {
    fn add<E: Error>(self, found: impl fmt::Display) -> Result<(), E> {
        writeln!(self.0, "{found}").map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.len() > FIELD_BYTES_MAX {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key_seed(Name(self.0))?.is_some() {
            members.next_value_seed(Part(self.0))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Part(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.add(text)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.add(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.add(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        // Written as in JSON: `1.0`, `1e300`.
        serde_json::Number::from_f64(number).map_or(Ok(()), |number| self.add(number))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.len() > FIELD_BYTES_MAX {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_str(Part(self.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Adds the same text, from the value of the document.
    fn add_expected(value: &Value, text: &mut String) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, member)| {
                text.push_str(&format!("{name}\n"));
                add_expected(member, text);
            }),
            Value::Array(items) => items.iter().for_each(|item| add_expected(item, text)),
            Value::String(found) => text.push_str(&format!("{found}\n")),
            Value::Number(found) => text.push_str(&format!("{found}\n")),
            Value::Bool(_) | Value::Null => {}
        }
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_the_value(parameters in json_value()) {
            let mut text = String::new();
            add_expected(&parameters, &mut text);
            let input = json!({"a": {"input_parameters": 1}, "input_parameters": parameters, "z": [2]}).to_string();
            prop_assert_eq!(extract_input_text(&input), Some(text));
        }
    }

    #[test]
    fn the_text_is_bounded_and_the_rest_is_still_read() {
        let items = vec!["x".repeat(1_000); 2 * FIELD_BYTES_MAX / 1_000];
        let input = json!({"input_parameters": items}).to_string();
        let text = extract_input_text(&input).unwrap();
        assert!((FIELD_BYTES_MAX..FIELD_BYTES_MAX + 2_000).contains(&text.len()), "{}", text.len());
        assert_eq!(extract_input_text(&input[..input.len() - 1]), None);
        assert_eq!(extract_input_text(&format!("{input}1")), None);
    }
}
