//! The operations of the contract, read from its two files.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

static PATHS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../contract/tool-paths.json")).expect("JSON"));

pub static SCHEMAS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../contract/tool-schemas.json")).expect("JSON"));

static OPERATIONS: LazyLock<Vec<ContractOperation>> = LazyLock::new(read);

/// Prefix of references to schemas, as in the complete document of the contract.
pub const SCHEMAS_AT: &str = "#/components/schemas/";

/// An operation of the contract.
pub struct ContractOperation {
    /// Method and path.
    pub name: String,
    pub template: String,
    method: String,
    /// The operation id in the contract.
    pub id: String,
    /// The statuses that the contract documents.
    pub statuses: BTreeSet<u16>,
    /// Additional statuses of our API. Clients get them for parameters that the contract does not have, and for
    /// requests that are too large or too slow.
    beyond: BTreeSet<u16>,
    /// Possible parameters of a request, by name: `query tag`, `query tag twice`, `body bump_type=major`.
    pub parameters: BTreeSet<String>,
    responses: Value,
}

pub fn operations() -> &'static [ContractOperation] {
    &OPERATIONS
}

/// Returns the operation of a path. Literal segments take precedence over parameters.
pub fn find(method: &str, path: &str) -> Option<&'static ContractOperation> {
    let fitting = operations().iter().filter(|operation| fits(&operation.template, path));
    let parameters = |operation: &&ContractOperation| operation.template.matches('{').count();
    let fewest = fitting.clone().map(|operation| parameters(&operation)).min()?;
    let mut best = fitting.filter(|operation| parameters(operation) == fewest);
    best.find(|operation| operation.method == method)
}

/// Whether a path matches a template. A slash at the end is optional, and a path in the repository has any number of
/// segments.
fn fits(template: &str, path: &str) -> bool {
    let mut path = path.trim_end_matches('/').split('/');
    for expected in template.trim_end_matches('/').split('/') {
        let Some(found) = path.next() else { return false };
        if expected == "{git_path}" {
            return true;
        }
        if !(expected.starts_with('{') || expected == found) {
            return false;
        }
    }
    path.next().is_none()
}

impl ContractOperation {
    pub fn may_answer(&self, status: u16) -> bool {
        self.statuses.contains(&status) || self.beyond.contains(&status)
    }

    /// Returns the name of the response schema for a status.
    pub fn shape(&self, status: u16) -> Option<&str> {
        let schema = &self.responses[status.to_string()]["content"]["application/json"]["schema"];
        schema["$ref"].as_str()?.strip_prefix(SCHEMAS_AT)
    }
}

fn read() -> Vec<ContractOperation> {
    let mut operations = Vec::new();
    for (template, methods) in PATHS.as_object().expect("an object") {
        for (method, operation) in methods.as_object().expect("an object") {
            let method = method.to_uppercase();
            operations.push(ContractOperation {
                name: format!("{method} {template}"),
                id: operation["operationId"].as_str().expect("text").to_owned(),
                beyond: beyond(template),
                template: template.clone(),
                statuses: statuses(&method, template, operation),
                parameters: parameters(template, operation),
                responses: operation["responses"].clone(),
                method,
            });
        }
    }
    operations
}

/// Returns the documented statuses, and those that the contract's text adds for several operations.
fn statuses(method: &str, template: &str, operation: &Value) -> BTreeSet<u16> {
    let documented = operation["responses"].as_object().expect("an object").keys();
    let mut statuses: BTreeSet<u16> = documented.map(|status| status.parse().expect("a status")).collect();
    if template.contains("/git/") {
        statuses.extend([401, 403, 404, 429, 503]);
    }
    if method == "POST" {
        statuses.insert(413);
    }
    if method == "DELETE" {
        statuses.insert(409);
    }
    statuses
}

/// Statuses for slow bodies, long paths, large headers, asynchronous operations, repeated requests, and encodings of
/// bodies that git clients do not use.
fn beyond(template: &str) -> BTreeSet<u16> {
    let work = template.ends_with("/invoke") || template.ends_with("/version");
    let git = template.contains("/git/");
    let of_work = [202, 409].into_iter().filter(|_| work);
    [408, 414, 431].into_iter().chain(of_work).chain([400, 415].into_iter().filter(|_| git)).collect()
}

fn parameters(template: &str, operation: &Value) -> BTreeSet<String> {
    let mut cells = BTreeSet::new();
    for parameter in operation["parameters"].as_array().expect("a list") {
        let text = |name: &str| parameter[name].as_str().expect("text");
        let name = format!("{} {}", text("in"), text("name").to_lowercase());
        values(&name, &parameter["schema"], &mut cells);
        if parameter["schema"]["type"] == "array" {
            cells.insert(format!("{name} twice"));
        }
        cells.insert(name);
    }
    if !template.contains("/git/") {
        cells.extend(["path with a slash at its end", "path without a slash at its end"].map(str::to_owned));
    }
    fields("body", &operation["requestBody"]["content"]["application/json"]["schema"], &mut cells);
    cells
}

/// Adds the paths of a schema's fields, with `name[]` for lists. Keys of maps are left out, since callers choose them.
fn fields(place: &str, schema: &Value, cells: &mut BTreeSet<String>) {
    let schema = resolved(schema);
    if let Some(item) = schema.get("items") {
        return fields(&format!("{place}[]"), item, cells);
    }
    values(place, schema, cells);
    let separator = if place == "body" { " " } else { "." };
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}{separator}{name}");
        fields(&place, field, cells);
        cells.insert(place);
    }
}

/// Adds each value of an enumeration.
fn values(place: &str, schema: &Value, cells: &mut BTreeSet<String>) {
    let schema = schema.get("items").unwrap_or(schema);
    let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    cells.extend(words.map(|word| format!("{place}={word}")));
    let either = schema["anyOf"].as_array().into_iter().flatten();
    if place.starts_with("query") && either.clone().any(|one| one["type"] == "boolean") {
        cells.extend([true, false].map(|value| format!("{place}={value}")));
    }
}

/// Resolves a reference, and the other alternative of a nullable schema.
fn resolved(schema: &Value) -> &Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS_AT)) {
        return resolved(&SCHEMAS[name]);
    }
    let either = schema["anyOf"].as_array().into_iter().flatten();
    either.clone().find(|one| one["type"] != "null").map_or(schema, resolved)
}
