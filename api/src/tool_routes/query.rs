//! Texts of a query as arguments of a tool.

use serde_json::{Value, json};

/// Reads the texts of a parameter as its schema describes it. Of several texts of one value, the last counts. The items of a list are
/// separated by commas, too. A text of another type stays a text, which the check of the arguments refuses.
pub(super) fn parse_argument(schema: &Value, texts: &[String]) -> Value {
    if is_of(schema, "array") {
        let items = texts.iter().flat_map(|text| text.split(',')).filter(|item| !item.is_empty());
        return items.map(|item| parse_one(&schema["items"], item)).collect();
    }
    parse_one(schema, texts.last().map_or("", String::as_str))
}

fn parse_one(schema: &Value, text: &str) -> Value {
    let read = if is_of(schema, "integer") {
        text.trim().parse::<i64>().ok().map(Value::from)
    } else if is_of(schema, "number") {
        text.trim().parse::<f64>().ok().and_then(|number| serde_json::Number::from_f64(number).map(Value::Number))
    } else if is_of(schema, "boolean") {
        parse_boolean(text).map(Value::Bool)
    } else {
        None
    };
    read.unwrap_or_else(|| json!(text))
}

/// The words that queries of all operations have for true and false.
fn parse_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "on" | "t" | "y" | "yes" => Some(true),
        "false" | "0" | "off" | "f" | "n" | "no" => Some(false),
        _ => None,
    }
}

/// Whether values of a schema can have a type.
fn is_of(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_values_of_the_schema() {
        let list = json!({"type": ["array", "null"], "items": {"type": "string"}});
        let (integer, boolean) = (json!({"type": ["integer", "null"]}), json!({"type": "boolean"}));
        for (schema, texts, expected) in [
            (&list, &["a", "b"][..], json!(["a", "b"])),
            (&list, &["a,b", "c"], json!(["a", "b", "c"])),
            (&list, &[""], json!([])),
            (&integer, &["1", " 20 "], json!(20)),
            (&integer, &["many"], json!("many")),
            (&boolean, &["True"], json!(true)),
            (&boolean, &["maybe"], json!("maybe")),
            (&json!({"type": "number"}), &["0.5"], json!(0.5)),
            (&json!({"type": "string"}), &["1"], json!("1")),
            (&json!(null), &["unknown"], json!("unknown")),
        ] {
            let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(parse_argument(schema, &texts), expected, "{schema} {texts:?}");
        }
    }
}
