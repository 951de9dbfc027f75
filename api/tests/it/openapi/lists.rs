//! Lists of the document: each has pages, or a bound that the document tells.

use serde_json::Value;

use super::shape::list_operations;

/// Parameters that begin a page after the one before.
const NEXT: [&str; 4] = ["continuation_token", "before", "after", "offset"];

/// Lists of paths that show one thing. They are parts of it, and bounded with it, as those of all paths that end with an id are.
const PARTS: [(&str, &str); 4] = [
    ("/agents/{agent_run_id}/status", "triggered_runs"),
    ("/v1/{organization}/tool/{tool_id}/version/{version}/provenance", "signatures"),
    ("/v1/{organization}/tool/{tool_id}/version/{version}/sbom", "components"),
    ("/v1/{organization}/user/me", "permissions"),
];

#[test]
fn every_list_has_pages_or_a_bound() {
    let document = api::build_openapi_document();
    let mut found = Vec::new();
    let mut lists = 0;
    for (method, path, operation) in list_operations(&document) {
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let has_next = operation["parameters"].as_array().into_iter().flatten().any(|parameter| {
            let parameter = resolve(&document, parameter);
            parameter["name"].as_str().is_some_and(|name| NEXT.contains(&name))
        });
        for (name, list) in find_arrays(&document, schema) {
            lists += 1;
            let is_part = path.ends_with('}') || PARTS.contains(&(path.as_str(), name.as_str()));
            if method == "get" && !has_next && !list["maxItems"].is_u64() && !is_part {
                found.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(lists > 10, "only {lists} lists were found");
    assert!(found.is_empty(), "lists without pages or `maxItems`:\n{}", found.join("\n"));
}

/// The arrays at the top of a schema.
fn find_arrays<'d>(document: &'d Value, schema: &'d Value) -> Vec<(String, &'d Value)> {
    let schema = resolve(document, schema);
    let properties = schema["properties"].as_object().into_iter().flatten();
    let listed = properties.map(|(name, property)| (name.clone(), resolve(document, property)));
    let whole = ("the response".to_owned(), schema);
    listed.chain([whole]).filter(|(_, schema)| schema["type"] == "array").collect()
}

fn resolve<'d>(document: &'d Value, part: &'d Value) -> &'d Value {
    match part["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).unwrap(),
        None => part,
    }
}
