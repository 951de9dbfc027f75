//! Values of forms on the command line, converted as their schemas ask for.

use api::wire::HumanForm;
use registry::did_you_mean;
use serde_json::{Map, Number, Value};

use super::field::{Field, list_fields};
use crate::failure::Failure;

const HINT: &str = "`lathe inbox show REQUEST` shows the fields with their types";

/// Reads `NAME=VALUE` texts into the values of all forms, by their keys. A field that is not given has its default.
pub fn read_values(forms: &[HumanForm], texts: &[String]) -> anyhow::Result<Map<String, Value>> {
    let fields = list_fields(forms);
    let given = texts.iter().map(|text| find_pair(&fields, text)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut values = Map::new();
    for form in forms {
        let mut content = Map::new();
        for field in fields.iter().filter(|field| field.form == form.key) {
            let of_field = given.iter().filter(|(found, _)| found.argument == field.argument);
            let texts: Vec<&str> = of_field.map(|(_, text)| *text).collect();
            if let Some(value) = read_value(field, &texts)? {
                content.insert(field.name.to_owned(), value);
            }
        }
        values.insert(form.key.clone(), Value::Object(content));
    }
    Ok(values)
}

/// Finds the field that a text names. The only form of a request needs no key.
fn find_pair<'a>(fields: &'a [Field<'a>], text: &'a str) -> anyhow::Result<(&'a Field<'a>, &'a str)> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Failure::usage(format!("`{text}` has no value"), "give NAME=VALUE, or KEY.NAME=VALUE"));
    };
    let field = fields.iter().find(|field| field.argument == name || field.qualify() == name);
    Ok((field.ok_or_else(|| refuse_unknown(name, fields))?, value))
}

fn refuse_unknown(name: &str, fields: &[Field<'_>]) -> anyhow::Error {
    let names: Vec<&str> = fields.iter().map(|field| field.argument.as_str()).collect();
    let hint = match &names[..] {
        [] => "the form has no fields; --approve accepts it".to_owned(),
        names => format!("the fields are {}{}", names.join(", "), did_you_mean(name, names.iter().copied())),
    };
    Failure::usage(format!("there is no field `{name}`"), hint)
}

/// Converts the texts of a field, or takes its default. `None` for a field that may be absent.
fn read_value(field: &Field<'_>, texts: &[&str]) -> anyhow::Result<Option<Value>> {
    let name = &field.argument;
    match texts {
        [] => match field.find_default() {
            None if field.is_required => Err(Failure::usage(format!("the field `{name}` is missing"), HINT)),
            default => Ok(default.cloned()),
        },
        several if field.is_list() => {
            several.iter().map(|text| convert(field, text)).collect::<anyhow::Result<Value>>().map(Some)
        }
        [text] => convert(field, text).map(Some),
        _ => Err(Failure::usage(format!("the field `{name}` is given twice"), "only lists take several values")),
    }
}

fn convert(field: &Field<'_>, text: &str) -> anyhow::Result<Value> {
    let refused =
        |wanted: &str| Failure::usage(format!("the field `{}` takes {wanted}, not `{text}`", field.argument), HINT);
    let value = match field.find_item()["type"].as_str() {
        Some("integer") => text.parse::<i64>().map(Value::from).map_err(|_| refused("a whole number"))?,
        Some("number") => parse_number(text).ok_or_else(|| refused("a number"))?,
        Some("boolean") => text.parse::<bool>().map(Value::from).map_err(|_| refused("true or false"))?,
        _ => Value::from(text),
    };
    let choices = field.list_choices();
    if choices.is_empty() || choices.iter().any(|(choice, _)| **choice == value) {
        return Ok(value);
    }
    Err(refused(&format!("one of {}", field.render_choices())))
}

fn parse_number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn build_form(key: &str) -> HumanForm {
        let properties = json!({
            "name": {"type": "string"}, "age": {"type": "integer"}, "height": {"type": "number"}, "is_new": {"type": "boolean"},
            "sizes": {"type": "array", "items": {"type": "string", "enum": ["S", "M"]}}, "colour": {"default": "red"},
        });
        let schema = json!({"type": "object", "properties": properties, "required": ["name"]});
        HumanForm { key: key.to_owned(), message: "Who?".to_owned(), schema }
    }

    fn read(forms: &[HumanForm], texts: &[&str]) -> Result<Value, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        read_values(forms, &texts).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn values_have_the_types_of_their_fields() {
        let texts = ["name=a=b", "age=-3", "height=1.5", "is_new=true", "who.sizes=S", "sizes=M"];
        let expected = json!({
            "name": "a=b", "age": -3, "height": 1.5, "is_new": true, "sizes": ["S", "M"], "colour": "red",
        });
        assert_eq!(read(&[build_form("who")], &texts), Ok(json!({ "who": expected })));
        let of_two = read(&[build_form("a"), build_form("b")], &["a.name=x", "b.name=y", "b.colour=blue"]);
        let expected = json!({"a": {"name": "x", "colour": "red"}, "b": {"name": "y", "colour": "blue"}});
        assert_eq!(of_two, Ok(expected));
    }

    #[test]
    fn unfit_values_are_refused() {
        for (texts, expected) in [
            (&["name"][..], "`name` has no value"),
            (&["city=x"], "there is no field `city`"),
            (&["age=3"], "the field `name` is missing"),
            (&["name=x", "name=y"], "the field `name` is given twice"),
            (&["name=x", "age=3.5"], "the field `age` takes a whole number, not `3.5`"),
            (&["name=x", "height=NaN"], "the field `height` takes a number, not `NaN`"),
            (&["name=x", "is_new=yes"], "the field `is_new` takes true or false, not `yes`"),
            (&["name=x", "sizes=S", "sizes=L"], "the field `sizes` takes one of S, M, not `L`"),
        ] {
            assert_eq!(read(&[build_form("who")], texts), Err(expected.to_owned()));
        }
        assert_eq!(read(&[build_form("a"), build_form("b")], &["name=x"]), Err("there is no field `name`".to_owned()));
    }
}
