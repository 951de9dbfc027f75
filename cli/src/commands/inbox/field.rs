//! The fields of forms, each with a name on the command line. Forms are flat: a field is a text, a number, a boolean or a list.

use api::wire::HumanForm;
use serde_json::Value;

/// A field of a form.
pub struct Field<'a> {
    /// The key of the form.
    pub form: &'a str,
    pub name: &'a str,
    /// The name for `--field`.
    pub argument: String,
    pub schema: &'a Value,
    pub is_required: bool,
}

/// The fields of all forms of a request. Several forms may have fields of the same name.
pub fn list_fields(forms: &[HumanForm]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    for HumanForm { key, schema, .. } in forms {
        let required = schema["required"].as_array();
        for (name, of_field) in schema["properties"].as_object().into_iter().flatten() {
            fields.push(Field {
                form: key,
                name,
                argument: if forms.len() == 1 { name.clone() } else { format!("{key}.{name}") },
                schema: of_field,
                is_required: required.is_some_and(|names| names.iter().any(|required| required == name)),
            });
        }
    }
    fields
}

impl Field<'_> {
    /// The name for `--field` with the key of the form.
    pub fn qualify(&self) -> String {
        format!("{}.{}", self.form, self.name)
    }

    pub fn is_list(&self) -> bool {
        self.schema["type"] == "array"
    }

    /// The schema of a single value.
    pub fn find_item(&self) -> &Value {
        if self.is_list() { &self.schema["items"] } else { self.schema }
    }

    pub fn find_default(&self) -> Option<&Value> {
        self.schema.get("default").filter(|default| !default.is_null())
    }

    /// The values that the field takes, each with its title. Empty when it takes others, too.
    pub fn list_choices(&self) -> Vec<(&Value, Option<&str>)> {
        let schema = self.find_item();
        let values = schema["enum"].as_array().into_iter().flatten().map(|value| (value, None::<&str>));
        let titled = ["oneOf", "anyOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
        let titled = titled.filter_map(|choice| Some((choice.get("const")?, choice["title"].as_str())));
        values.chain(titled).collect()
    }

    /// The values that the field takes, as a text.
    pub fn render_choices(&self) -> String {
        let text = |(value, title): (&Value, Option<&str>)| match title {
            Some(title) => format!("{} ({title})", show_value(value)),
            None => show_value(value),
        };
        self.list_choices().into_iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// The name, the type and the meaning of the field.
    pub fn render(&self) -> String {
        let of_item = self.find_item()["type"].as_str().unwrap_or("string");
        let of_field = if self.is_list() { format!("list of {of_item}") } else { of_item.to_owned() };
        let mut facts = vec![of_field, if self.is_required { "required" } else { "optional" }.to_owned()];
        if !self.list_choices().is_empty() {
            facts.push(format!("one of {}", self.render_choices()));
        }
        facts.extend(self.find_default().map(|default| format!("default {}", show_value(default))));
        let about = ["title", "description"].into_iter().filter_map(|name| self.schema[name].as_str());
        let about: String = about.map(|about| format!(": {about}")).collect();
        format!("{} ({}){about}", self.argument, facts.join("; "))
    }
}

/// A text without quotes, and other values as JSON.
fn show_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_described() {
        let size = json!({
            "type": "string", "title": "Size", "oneOf": [{"const": "S", "title": "Small"}, {"const": "M"}], "default": "M",
        });
        let tags = json!({"type": "array", "items": {"type": "string"}, "description": "Some words"});
        let schema = json!({"properties": {"size": size, "tags": tags}, "required": ["size"]});
        let form = |key: &str| HumanForm { key: key.to_owned(), message: String::new(), schema: schema.clone() };
        let texts = |forms: &[HumanForm]| list_fields(forms).iter().map(Field::render).collect::<Vec<_>>();
        let size = "size (string; required; one of S (Small), M; default M): Size";
        assert_eq!(texts(&[form("a")]), [size, "tags (list of string; optional): Some words"]);
        assert_eq!(texts(&[form("a"), form("b")])[2], format!("b.{size}"));
    }
}
