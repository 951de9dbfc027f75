//! `sort_by`: a field with a direction before it. A `+` that was not percent-encoded arrives as a space.

use registry::Direction;
use serde_json::{Value, json};

/// The form of one value of `sort_by`.
pub(crate) fn sort_form<T>(fields: &[(&str, T)]) -> Value {
    let names: Vec<String> = fields.iter().map(|(name, _)| name.replace('.', r"\.")).collect();
    json!({"type": "string", "pattern": format!("^[+ -]?({})$", names.join("|"))})
}

/// Parses one value of `sort_by` against the fields that can be sorted by; no sign means ascending.
pub(crate) fn sort_key<T: Copy>(text: &str, fields: &[(&str, T)]) -> Result<(T, Direction), String> {
    let (direction, name) = match text.strip_prefix('-') {
        Some(name) => (Direction::Descending, name),
        None => (Direction::Ascending, text.strip_prefix(['+', ' ']).unwrap_or(text)),
    };
    let found = fields.iter().find(|(field, _)| *field == name);
    found.map(|(_, field)| (*field, direction)).ok_or_else(|| {
        let names: Vec<&str> = fields.iter().map(|(field, _)| *field).collect();
        format!("should be + or - and one of: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use registry::Direction::{Ascending, Descending};

    use super::sort_key;

    #[test]
    fn signs_give_the_direction() {
        let fields = [("name", 1), ("deprecated", 2)];
        for (text, expected) in [("+name", (1, Ascending)), (" name", (1, Ascending)), ("deprecated", (2, Ascending))] {
            assert_eq!(sort_key(text, &fields), Ok(expected));
        }
        assert_eq!(sort_key("-name", &fields), Ok((1, Descending)));
        assert!(sort_key("--name", &fields).is_err());
        assert!(sort_key("", &fields).is_err());
    }
}
