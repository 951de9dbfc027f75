//! The strings and numbers of a secret that is JSON, such as the key file of a service account.

use serde_json::Value;

/// The members of a JSON object or array, or the text of a JSON string. Names of members are no secrets.
pub(super) fn find_members(value: &str) -> Option<Vec<String>> {
    // The parser refuses documents of more than 128 levels.
    let parsed: Value = value.starts_with(['{', '[', '"']).then(|| serde_json::from_str(value).ok())??;
    let mut members = Vec::new();
    let mut rest = vec![parsed];
    while let Some(one) = rest.pop() {
        match one {
            Value::String(text) => members.push(text),
            Value::Number(number) => members.push(number.to_string()),
            Value::Array(items) => rest.extend(items),
            Value::Object(object) => rest.extend(object.into_iter().map(|(_, member)| member)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    Some(members)
}
