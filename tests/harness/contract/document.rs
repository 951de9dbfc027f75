//! The operations of the contract, from its two files.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

static PATHS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../contract/tool-paths.json")).expect("JSON"));

pub static SCHEMAS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../contract/tool-schemas.json")).expect("JSON"));

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(read);

/// Where all schemas of the contract lie in the document that it is an extract of.
pub const SCHEMAS_AT: &str = "#/components/schemas/";

/// One operation.
pub struct Operation {
    /// Method and path.
    pub name: String,
    pub template: String,
    method: String,
    /// The contract's own name for it.
    pub id: String,
    /// The statuses that the contract documents.
    pub statuses: BTreeSet<u16>,
    /// Ours: statuses that only a client meets that asks for what the contract does not know, or that sends too much
    /// or too slowly for any operation.
    beyond: BTreeSet<u16>,
    /// What a request may carry, each thing by a name: `query tag`, `query tag twice`, `body bump_type=major`.
    pub parameters: BTreeSet<String>,
    responses: Value,
}

pub fn operations() -> &'static [Operation] {
    &OPERATIONS
}

/// The operation that a path belongs to; a literal segment wins over a parameter.
pub fn find(method: &str, path: &str) -> Option<&'static Operation> {
    let fitting = operations().iter().filter(|operation| fits(&operation.template, path));
    let parameters = |operation: &&Operation| operation.template.matches('{').count();
    let fewest = fitting.clone().map(|operation| parameters(&operation)).min()?;
    let mut best = fitting.filter(|operation| parameters(operation) == fewest);
    best.find(|operation| operation.method == method)
}

/// Both slash forms are meant, and a path in the repository has as many segments as it likes.
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

impl Operation {
    pub fn may_answer(&self, status: u16) -> bool {
        self.statuses.contains(&status) || self.beyond.contains(&status)
    }

    /// The name of the schema of an answer with this status.
    pub fn shape(&self, status: u16) -> Option<&str> {
        let schema = &self.responses[status.to_string()]["content"]["application/json"]["schema"];
        schema["$ref"].as_str()?.strip_prefix(SCHEMAS_AT)
    }
}

fn read() -> Vec<Operation> {
    let mut operations = Vec::new();
    for (template, methods) in PATHS.as_object().expect("an object") {
        for (method, operation) in methods.as_object().expect("an object") {
            let method = method.to_uppercase();
            operations.push(Operation {
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

/// The documented statuses, and those that the contract's text adds for all operations of a kind.
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

/// Slow bodies, long paths and large headers; and work that goes on after its answer, or that was asked for already.
fn beyond(template: &str) -> BTreeSet<u16> {
    let work = template.ends_with("/invoke") || template.ends_with("/version");
    [408, 414, 431].into_iter().chain([202, 409].into_iter().filter(|_| work)).collect()
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

/// The fields of a schema with their places, lists as `name[]`; what maps hold is the caller's.
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

/// Each of a few fixed values.
fn values(place: &str, schema: &Value, cells: &mut BTreeSet<String>) {
    let schema = schema.get("items").unwrap_or(schema);
    let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    cells.extend(words.map(|word| format!("{place}={word}")));
    let either = schema["anyOf"].as_array().into_iter().flatten();
    if place.starts_with("query") && either.clone().any(|one| one["type"] == "boolean") {
        cells.extend([true, false].map(|value| format!("{place}={value}")));
    }
}

/// The schema that a reference leads to, and the one beside null.
fn resolved(schema: &Value) -> &Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS_AT)) {
        return resolved(&SCHEMAS[name]);
    }
    let either = schema["anyOf"].as_array().into_iter().flatten();
    either.clone().find(|one| one["type"] != "null").map_or(schema, resolved)
}
