//! Comparison of the APIs of two versions, each as a tool of its own.

use registry::{BumpKind, SchemaText, ToolApi, VersionSettings};

use super::change::Change;
use super::{promises, values};

/// Compares the APIs. Agents call them by their names, so a name that goes is breaking.
pub fn compare(old: &VersionSettings, new: &VersionSettings) -> Vec<Change> {
    let change = |bump, reason: String| Change { bump, reason };
    if old.apis.is_empty() && !new.apis.is_empty() {
        return vec![change(
            BumpKind::Major,
            "the tool has APIs now, which agents call instead of the tool".to_owned(),
        )];
    }
    let of_old = old.apis.iter().flat_map(|(name, api)| match new.apis.get(name) {
        None => vec![change(BumpKind::Major, format!("the API {name} is gone"))],
        Some(now) => {
            let named = |Change { bump, reason }| change(bump, format!("API {name}: {reason}"));
            compare_api(api, now).into_iter().map(named).collect()
        }
    });
    let added = new.apis.keys().filter(|name| !old.apis.contains_key(*name));
    of_old.chain(added.map(|name| change(BumpKind::Minor, format!("the API {name} is new")))).collect()
}

fn compare_api(old: &ToolApi, new: &ToolApi) -> Vec<Change> {
    let mut changes = values::compare_inputs(&old.input_schema.value(), &new.input_schema.value());
    let outputs = [&old.output_schema, &new.output_schema].map(|schema| schema.as_ref().map(SchemaText::value));
    changes.extend(values::compare_outputs(outputs[0].as_ref(), outputs[1].as_ref()));
    changes.extend(promises::compare_api(old, new));
    changes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::gate::find_needed_bump;

    fn settings(apis: &Value) -> VersionSettings {
        let settings = json!({
            "language": "python", "entry_point": "tool", "allowed_hosts": [], "timeout_ms": 1, "memory_bytes": 1,
            "secret_hosts": {}, "limits": {}, "tape": true, "recorded_answers": false,
            "world": {"name": "lathe:tool/tool@0.1.0", "imports": [], "exports": ["run-tool"]},
            "apis": apis,
        });
        serde_json::from_value(settings).unwrap()
    }

    fn api(more: &Value) -> Value {
        let mut api = json!({"description": "An API.", "input_schema": {"type": "object"}});
        api.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api
    }

    #[test]
    fn an_api_changes_as_a_tool_does() {
        let plain = || api(&json!({}));
        let one = |api: Value| json!({ "create": api });
        let narrow = json!({"input_schema": {"type": "object", "required": ["item"]}});
        let described = json!({"output_schema": {"type": "integer"}});
        for (old, new, bump) in [
            (one(plain()), one(plain()), BumpKind::Patch),
            (one(plain()), json!({"create": plain(), "list": plain()}), BumpKind::Minor),
            (json!({"create": plain(), "list": plain()}), one(plain()), BumpKind::Major),
            (one(plain()), json!({ "make": plain() }), BumpKind::Major),
            (json!({}), one(plain()), BumpKind::Major),
            (one(plain()), json!({}), BumpKind::Major),
            (json!({}), json!({}), BumpKind::Patch),
            (one(plain()), one(api(&narrow)), BumpKind::Major),
            (one(api(&narrow)), one(plain()), BumpKind::Minor),
            (one(plain()), one(api(&described)), BumpKind::Minor),
            (one(api(&described)), one(plain()), BumpKind::Major),
            (one(api(&json!({"intervention": "required"}))), one(plain()), BumpKind::Major),
            (one(plain()), one(api(&json!({"intervention": "required"}))), BumpKind::Patch),
            (one(api(&json!({"annotations": {"read_only": true}}))), one(plain()), BumpKind::Major),
            (one(plain()), one(api(&json!({"description": "Another text."}))), BumpKind::Patch),
        ] {
            assert_eq!(find_needed_bump(&compare(&settings(&old), &settings(&new))), bump, "{old} {new}");
        }
    }

    #[test]
    fn reasons_name_the_api() {
        let old = json!({"create": api(&json!({"intervention": "always"})), "list": api(&json!({}))});
        let new = json!({"create": api(&json!({})), "find": api(&json!({}))});
        let reasons: Vec<_> =
            compare(&settings(&old), &settings(&new)).into_iter().map(|change| change.reason).collect();
        let expected = [
            "API create: no person confirms each call any more (`intervention` was always)",
            "the API list is gone",
            "the API find is new",
        ];
        assert_eq!(reasons, expected);
    }
}
