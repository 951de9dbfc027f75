//! The schemas of the Library's tools, derived from the fields of a family.

use registry::UserId;
use runner::schema_of;
use serde_json::{Map, Value, json};

use super::answer::wrap_schema;
use super::fields::{
    ID_CHARACTERS_MAX, LABEL_CHARACTERS_MAX, LIMIT_DEFAULT, LIMIT_MAX, OFFSET_MAX, QUERY_CHARACTERS_MAX,
    RESULT_CHARACTERS_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX,
};
use super::record::Record;

/// The fields of a new item.
pub(super) fn new<R: Record>() -> Value {
    let mut schema = schema_of::<R>();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !R::SERVER_FIELDS.contains(&name.as_str()));
    }
    schema
}

/// The fields of an item, each of which may be absent, with its id.
pub(super) fn changes<R: Record>() -> Value {
    let mut schema = new::<R>();
    schema["required"] = json!([R::ID]);
    schema["properties"][R::ID] = id();
    let revision = "The revision that the change is for. A change of another revision is refused.";
    schema["properties"]["revision"] = json!({"type": ["integer", "null"], "minimum": 1, "description": revision});
    schema
}

/// The id of an item.
pub(super) fn one<R: Record>() -> Value {
    object(&[(R::ID, id())], &[R::ID])
}

/// The id of an item, and the version of it that is wanted.
pub(super) fn one_and_version<R: Record>() -> Value {
    let version = "The revision of an earlier version. The present version if it is left out.";
    let version = json!({"type": ["integer", "null"], "minimum": 1, "description": version});
    object(&[(R::ID, id()), ("version", version)], &[R::ID])
}

/// The id of an item, and the user with whom it is shared.
pub(super) fn one_and_user<R: Record>() -> Value {
    let user = "A user of the organisation, who can read the item from then on.";
    let user = json!({"type": "string", "minLength": 1, "maxLength": UserId::BYTES_MAX, "description": user});
    object(&[(R::ID, id()), ("user_id", user)], &[R::ID, "user_id"])
}

/// The id of an artifact, and whether a link to it is wanted.
pub(super) fn one_and_link<R: Record>() -> Value {
    let wanted = "Whether the result has a link that needs no token and works for fifteen minutes, or longer if the artifact is public.";
    let wanted = json!({"type": ["boolean", "null"], "default": false, "description": wanted});
    object(&[(R::ID, id()), ("with_download_url", wanted)], &[R::ID])
}

/// The id of a task, and what its completion reports.
pub(super) fn one_and_result<R: Record>() -> Value {
    let result = "What was done, or where the result is. Of a cancelled task, the reason.";
    let result = json!({"type": ["string", "null"], "maxLength": RESULT_CHARACTERS_MAX, "description": result});
    let status =
        "`cancelled` if the work is not wanted any more: then a recurring task has no more occurrences either.";
    let mut status = json!({"type": ["string", "null"], "default": "done", "description": status});
    status["enum"] = json!(["done", "cancelled", null]);
    object(&[(R::ID, id()), ("result", result), ("status", status)], &[R::ID])
}

/// The filters and the bounds of a list.
pub(super) fn page<R: Record>() -> Value {
    let mut limit = json!({"type": ["integer", "null"], "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT});
    limit["description"] = json!("Items of the page, at most.");
    let mut offset = json!({"type": ["integer", "null"], "minimum": 0, "maximum": OFFSET_MAX, "default": 0});
    offset["description"] = json!("Items before the page.");
    let mut properties = vec![("limit", limit), ("offset", offset)];
    properties.extend(R::LABEL.map(|label| (label, filter::<R>(label))));
    let tag = json!({"type": "string", "maxLength": LABEL_CHARACTERS_MAX});
    let tags = json!({"type": ["array", "null"], "items": tag, "maxItems": 32, "description": "Only items with all of these tags."});
    let switch = json!({"type": ["boolean", "null"], "default": false, "description": "Leaves out items that are switched off."});
    properties.extend(R::SWITCH.map(|(parameter, _)| (parameter, switch)));
    properties.extend(R::HAS_TAGS.then_some(("tags", tags)));
    object(&properties, &[])
}

/// The filter by a field. It takes the values that the schema of the field lists, if it lists any.
fn filter<R: Record>(field: &str) -> Value {
    let mut filter = json!({"type": ["string", "null"], "description": "Only these."});
    match read_listed_values(&schema_of::<R>()["properties"][field]) {
        Some(values) => filter["enum"] = values.into_iter().chain([Value::Null]).collect(),
        None => filter["maxLength"] = json!(LABEL_CHARACTERS_MAX),
    }
    filter
}

/// The values that a schema lists. Those with a description are alternatives with one value each.
fn read_listed_values(schema: &Value) -> Option<Vec<Value>> {
    match (&schema["enum"], schema.get("const"), &schema["oneOf"]) {
        (Value::Array(values), _, _) => Some(values.clone()),
        (_, Some(value), _) => Some(vec![value.clone()]),
        (_, _, Value::Array(alternatives)) => {
            let values = alternatives.iter().map(read_listed_values).collect::<Option<Vec<_>>>();
            values.map(|values| values.concat())
        }
        _ => None,
    }
}

/// A query, and the bound of its results.
pub(super) fn query() -> Value {
    let query = json!({
        "type": "string", "minLength": 1, "maxLength": QUERY_CHARACTERS_MAX,
        "description": "Words or a question. Memories with these words are found, and memories that mean the same.",
    });
    let limit = json!({
        "type": ["integer", "null"], "minimum": 1, "maximum": SEARCH_LIMIT_MAX, "default": SEARCH_LIMIT_DEFAULT,
    });
    object(&[("query", query), ("limit", limit)], &["query"])
}

/// The result that is an item.
pub(super) fn item<R: Record>() -> Value {
    wrap_schema(&item_schema::<R>(true))
}

/// The result that is an item, which may have a link.
pub(super) fn linked_item<R: Record>() -> Value {
    item_with::<R>("WithLink", "download_url", json!({"type": "string", "description": "Only if it was asked for."}))
}

/// The result that is an item with a further member. The suffix belongs to the name of its type.
pub(super) fn item_with<R: Record>(suffix: &str, member: &str, schema: Value) -> Value {
    let mut item = item_schema::<R>(true);
    item["title"] = json!(type_name::<R>() + suffix);
    item["properties"][member] = schema;
    wrap_schema(&item)
}

/// The result that is a page of items.
pub(super) fn items<R: Record>() -> Value {
    let items = json!({"type": "array", "items": item_schema::<R>(false)});
    wrap_schema(&open_object(&[("items", items), ("has_more", json!({"type": "boolean"}))]))
}

/// The result of a search.
pub(super) fn results<R: Record>() -> Value {
    let mut item = item_schema::<R>(true);
    item["title"] = json!(type_name::<R>() + "Result");
    item["properties"]["score"] = json!({"type": "number", "description": "Comparable within one result only."});
    let searches = json!({"enum": ["text", "semantic"]});
    item["properties"]["matched"] = json!({
        "type": "array", "items": searches, "description": "How the item was found: by its words, by its meaning, or by both.",
    });
    let semantic = json!({
        "type": ["string", "null"],
        "description": "What compared meanings. Null if nothing did, so that the search was by words alone.",
    });
    let items = json!({"type": "array", "items": item});
    wrap_schema(&open_object(&[("items", items), ("semantic", semantic), ("corrections", corrections())]))
}

/// The words of a query that were taken for others.
fn corrections() -> Value {
    let word = json!({"type": "string"});
    json!({
        "type": "array",
        "items": open_object(&[("word", word.clone()), ("taken_for", json!({"type": "array", "items": word}))]),
        "description": "Words of the query that nothing has, with near words for which each was taken.",
    })
}

/// The result of a deletion.
pub(super) fn deleted<R: Record>() -> Value {
    wrap_schema(&open_object(&[(R::ID, json!({"type": "string"})), ("deleted", json!({"const": true}))]))
}

/// The result of sharing.
pub(super) fn shared<R: Record>() -> Value {
    wrap_schema(&open_object(&[(R::ID, json!({"type": "string"})), ("shared_with", json!({"type": "string"}))]))
}

/// The fields of an item and what the server adds. Lists leave a large field out.
fn item_schema<R: Record>(is_whole: bool) -> Value {
    let mut schema = schema_of::<R>();
    let dropped = R::CONTENT.filter(|_| !is_whole);
    schema["title"] = json!(type_name::<R>() + if dropped.is_some() { "Summary" } else { "" });
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| dropped.is_none_or(|dropped| name != dropped));
        required.push(json!(R::ID));
    }
    schema["properties"][R::ID] = json!({"type": "string"});
    schema["properties"]["revision"] = json!({"type": "integer"});
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("additionalProperties");
    }
    schema
}

/// The name of an item's type, such as `Memory`.
fn type_name<R: Record>() -> String {
    let name = R::ID.trim_end_matches("_id");
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

fn id() -> Value {
    json!({"type": "string", "maxLength": ID_CHARACTERS_MAX, "description": "The id of the item."})
}

fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<_, _> = properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn open_object(properties: &[(&str, Value)]) -> Value {
    let required: Vec<_> = properties.iter().map(|(name, _)| *name).collect();
    let mut schema = object(properties, &required);
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("additionalProperties");
    }
    schema
}

/// The key of an item.
pub(super) fn keyed() -> Value {
    let key = json!({"type": "string", "minLength": 1, "maxLength": 128, "description": "The key of the preference."});
    object(&[("key", key)], &["key"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_with_and_without_descriptions() {
        let described = json!({"oneOf": [{"const": "open", "description": "x"}, {"enum": ["fired", "done"]}]});
        assert_eq!(read_listed_values(&described), Some(vec![json!("open"), json!("fired"), json!("done")]));
        assert_eq!(read_listed_values(&json!({"type": "string", "enum": ["a"]})), Some(vec![json!("a")]));
        assert_eq!(read_listed_values(&json!({"type": "string", "maxLength": 64})), None);
        assert_eq!(read_listed_values(&json!({"oneOf": [{"const": "a"}, {"type": "integer"}]})), None);
    }
}
