//! The differences between two JSON values, as readable lines.

use serde_json::{Number, Value};

/// Differences that are listed. Further ones tell an author nothing new.
const DIFFERENCES_MAX: usize = 10;
/// Characters of a value in a line.
const VALUE_CHARACTERS_MAX: usize = 200;
/// Characters shown before the first difference of two long texts.
const CONTEXT_CHARACTERS: usize = 20;
/// Characters up to which a text is shown in full.
const LONG_CHARACTERS: usize = 60;

/// Returns a line for each difference: its JSON pointer, the expected value and the actual value. Numbers are compared
/// by value, so that `1` equals `1.0`.
pub fn find_differences(expected: &Value, got: &Value) -> Vec<String> {
    let mut found = compare("", expected, got);
    let more = found.len().saturating_sub(DIFFERENCES_MAX);
    found.truncate(DIFFERENCES_MAX);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

/// A value on one line, truncated.
pub fn show_value(value: &Value) -> String {
    clip(&value.to_string())
}

fn compare(pointer: &str, expected: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (name, value) in expected {
                let pointer = format!("{pointer}/{}", escape(name));
                match got.get(name) {
                    Some(got) => found.extend(compare(&pointer, value, got)),
                    None => found.push(format!("{pointer}: expected {}, and it is missing", show_value(value))),
                }
            }
            let extra = got.iter().filter(|(name, _)| !expected.contains_key(*name));
            found.extend(
                extra.map(|(name, value)| {
                    format!("{pointer}/{}: not expected, got {}", escape(name), show_value(value))
                }),
            );
        }
        (Value::Array(expected), Value::Array(got)) => {
            for (index, value) in expected.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                match got.get(index) {
                    Some(got) => found.extend(compare(&pointer, value, got)),
                    None => found.push(format!("{pointer}: expected {}, and it is missing", show_value(value))),
                }
            }
            let extra = got.iter().enumerate().skip(expected.len());
            found.extend(
                extra.map(|(index, value)| format!("{pointer}/{index}: not expected, got {}", show_value(value))),
            );
        }
        (Value::Number(expected), Value::Number(got)) if is_same(expected, got) => {}
        (expected, got) if expected == got => {}
        (Value::String(expected), Value::String(got)) => {
            let (expected, got) = from_first_difference(expected, got);
            found.push(format!("{}: expected {expected}, got {got}", show_place(pointer)));
        }
        _ => found.push(format!("{}: expected {}, got {}", show_place(pointer), show_value(expected), show_value(got))),
    }
    found
}

fn show_place(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole" } else { pointer }
}

fn is_same(one: &Number, other: &Number) -> bool {
    let whole = |number: &Number| number.as_i128();
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.as_f64() == other.as_f64(),
    }
}

/// A name escaped for a JSON pointer, as RFC 6901 defines it.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Two texts, starting shortly before their first difference.
fn from_first_difference(expected: &str, got: &str) -> (String, String) {
    let is_long = |text: &str| text.chars().count() > LONG_CHARACTERS;
    let common = expected.chars().zip(got.chars()).take_while(|(one, other)| one == other).count();
    let skipped = if is_long(expected) || is_long(got) { common.saturating_sub(CONTEXT_CHARACTERS) } else { 0 };
    let from = |text: &str| {
        let rest: String = text.chars().skip(skipped).collect();
        let quoted = show_value(&Value::String(rest));
        if skipped > 0 { format!("…{quoted}") } else { quoted }
    };
    (from(expected), from(got))
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARACTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_difference_has_its_line() {
        let expected = json!({"a": [1, 2, 3], "b": {"c/d": true}, "e": "one", "gone": null});
        let got = json!({"a": [1, 9], "b": {"c/d": false, "new": [1]}, "e": ["one"]});
        assert_eq!(
            find_differences(&expected, &got),
            [
                "/a/1: expected 2, got 9",
                "/a/2: expected 3, and it is missing",
                "/b/c~1d: expected true, got false",
                "/b/new: not expected, got [1]",
                "/e: expected \"one\", got [\"one\"]",
                "/gone: expected null, and it is missing",
            ]
        );
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (one, other) in
            [("1", "1.0"), ("1e2", "100"), ("0", "-0.0"), ("18446744073709551615", "18446744073709551615")]
        {
            let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert!(find_differences(&value(one), &value(other)).is_empty(), "{one} {other}");
        }
        assert_eq!(find_differences(&json!(0.3), &json!(0.1 + 0.2)).len(), 1);
        assert_eq!(find_differences(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)).len(), 1);
        assert_eq!(find_differences(&json!("1"), &json!(1)), ["the whole: expected \"1\", got 1"]);
    }

    #[test]
    fn long_texts_are_shown_from_their_first_difference() {
        let common = "x".repeat(500);
        let lines = find_differences(&json!(format!("{common}abc")), &json!(format!("{common}abd{common}")));
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.contains("expected …\"xxxxxxxxxxxxxxxxxxabc\", got …\"xxxxxxxxxxxxxxxxxxabdx"), "{line}");
        assert!(line.len() < 400, "{line}");
    }

    #[test]
    fn the_number_of_differences_is_bounded() {
        let lines = find_differences(&json!(vec![0; 1_000]), &json!(vec![1; 1_000]));
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (DIFFERENCES_MAX + 1, Some("and 990 more")));
    }
}
