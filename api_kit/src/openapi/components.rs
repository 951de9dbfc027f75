//! Schemas that several operations share.

use serde_json::{Map, Value, json};

/// Moves the parts of a schema that have a title to the definitions, and refers to them there.
pub(super) fn move_titled(schema: &mut Value, definitions: &mut Map<String, Value>) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(|part| move_titled(part, definitions)),
        Value::Object(parts) => {
            parts.values_mut().for_each(|part| move_titled(part, definitions));
            // A property with this name is an object.
            if let Some(Value::String(title)) = parts.get("title").filter(|title| title.is_string()).cloned() {
                parts.remove("title");
                definitions.insert(title.clone(), schema.take());
                *schema = json!({"$ref": format!("#/components/schemas/{title}")});
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_with_a_title_is_referred_to() {
        let task = json!({"title": "Task", "type": "object", "properties": {"title": {"type": "string"}}});
        let mut list = json!({"type": "array", "items": task});
        let mut definitions = Map::new();
        move_titled(&mut list, &mut definitions);
        assert_eq!(list, json!({"type": "array", "items": {"$ref": "#/components/schemas/Task"}}));
        assert_eq!(definitions["Task"], json!({"type": "object", "properties": {"title": {"type": "string"}}}));
    }
}
