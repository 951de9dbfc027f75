//! From the route table to the document.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::operation::Operation;
use super::problems::in_braces;
use super::responses::{header_components, responses};
use super::{Parameter, form, refusals};
use crate::error::Refusal;
use crate::extract::Problem;
use crate::router::{Route, routes};

const SPECIFICATION: &str = "3.1.0";

/// Operations below this path tolerate the headers that clients of the contract send.
const CONTRACT_PREFIX: &str = "/v1/{organization}/tool";

/// The document of the whole API.
pub fn openapi_document() -> Value {
    document(&routes())
}

/// Routes without a description are left out; the start-up refuses them.
fn document(table: &[Route]) -> Value {
    let mut generator = generator();
    let mut paths = Map::new();
    let mut bodies = Map::new();
    let mut tags = BTreeSet::new();
    for route in table {
        let Some(operation) = &route.operation else { continue };
        let path = route.path.replace("{*", "{");
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[route.method.to_lowercase()] = rendered(route, operation, &mut generator);
        tags.insert(operation.tag);
        if let Some(body) = &route.inputs.body {
            bodies.insert(body.name.to_owned(), body.schema.clone());
        }
    }
    let tags: Vec<Value> = tags.iter().map(|tag| json!({"name": tag.name(), "description": tag.says()})).collect();
    json!({
        "openapi": SPECIFICATION,
        "info": info(),
        "servers": [{"url": "/", "description": "This server."}],
        "tags": tags,
        "paths": paths,
        "components": components(generator, bodies),
    })
}

/// Makes schemas of what is serialised, for `components.schemas`.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.for_serialize().into_generator()
}

fn info() -> Value {
    json!({
        "title": "Lathe",
        "version": env!("CARGO_PKG_VERSION"),
        "summary": "Turns git commits into versioned, sandboxed, recorded tools.",
        "description": "An organisation pushes tools to its own git repository, publishes versions of them, and calls \
            them. Every run is in a WebAssembly sandbox and leaves a record.\n\nSign in with an API key, then send \
            the token as `Authorization: Bearer <id_token>`, or as the password of `Basic`, with \
            `<organization>_<user>` as the name: git and package installers do that. Every path is served with and \
            without a slash at its end. Fields, parameters and headers that are not known are ignored.\n\nA refusal \
            is `{\"detail\": …, \"code\": …}`; the [page of codes](/docs/errors) says what to do about each. \
            Another organisation's things are answered like things that do not exist.",
        "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    })
}

fn rendered(route: &Route, operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut rendered = json!({
        "operationId": operation.id,
        "tags": [operation.tag.name()],
        "summary": operation.summary,
        "description": description(route, operation),
        "parameters": parameters(route, operation),
        "responses": responses(route, operation, generator),
        "security": security(route),
    });
    if let Some(permission) = route.permission {
        rendered["x-permission"] = json!(permission.as_str());
    }
    if let Some(body) = request_body(route, operation) {
        rendered["requestBody"] = body;
    }
    rendered
}

fn description(route: &Route, operation: &Operation) -> String {
    let words = operation.description;
    route.permission.map_or_else(|| words.to_owned(), |permission| format!("{words}\n\nNeeds `{permission}`."))
}

fn security(route: &Route) -> Value {
    if route.permission.is_some() { json!([{"bearer": []}, {"basic": []}]) } else { json!([]) }
}

fn parameters(route: &Route, operation: &Operation) -> Vec<Value> {
    let mut parameters = Vec::new();
    if in_braces(route.path).any(|name| name == "organization") {
        parameters.push(json!({"$ref": "#/components/parameters/organization"}));
    }
    if route.permission.is_some() {
        parameters.push(json!({"$ref": "#/components/parameters/named"}));
    }
    let own = route.inputs.parameters.iter().chain(&operation.parameters);
    parameters.extend(own.map(Parameter::rendered));
    if route.path.starts_with(CONTRACT_PREFIX) {
        let tolerated = shared_parameters().into_iter().skip(2);
        parameters.extend(tolerated.map(|(key, _)| json!({"$ref": format!("#/components/parameters/{key}")})));
    }
    parameters
}

/// The organisation in the path and in a header, then what is tolerated.
fn shared_parameters() -> [(&'static str, Parameter); 4] {
    let organization = "The organisation's id, as its operator chose it.";
    let named = "Names the organisation once more; it has to be that of the path.";
    let ignored = "Tolerated and ignored, since clients of the contract may send it.";
    let cluster = json!({"type": ["string", "null"]});
    let protocols = json!({"type": "array", "items": {"type": "string"}, "default": []});
    [
        ("organization", Parameter::path("organization", organization, form::text())),
        ("named", Parameter::header("X-ORG-ID", named, form::text())),
        ("cluster", Parameter::header("x-mongo-cluster-name", ignored, cluster)),
        ("protocols", Parameter::header("Sec-WebSocket-Protocol", ignored, protocols)),
    ]
}

fn request_body(route: &Route, operation: &Operation) -> Option<Value> {
    if let Some(body) = &route.inputs.body {
        let schema = json!({"$ref": format!("#/components/schemas/{}", body.name)});
        let content = json!({"application/json": {"schema": schema, "example": body.example}});
        return Some(json!({"required": true, "content": content}));
    }
    let content = operation.raw_bodies.iter().map(|media_type| ((*media_type).to_owned(), json!({})));
    let content: Map<_, _> = content.collect();
    (!content.is_empty()).then(|| json!({"required": true, "content": content}))
}

fn components(mut generator: SchemaGenerator, bodies: Map<String, Value>) -> Value {
    let problem = generator.subschema_for::<Problem>().to_value();
    generator.subschema_for::<Refusal>();
    let mut schemas = generator.take_definitions(true);
    schemas.insert("InvalidRequest".to_owned(), refusals::invalid_request(&problem));
    schemas.extend(bodies);
    let parameters: Map<_, _> =
        shared_parameters().into_iter().map(|(key, parameter)| (key.to_owned(), parameter.rendered())).collect();
    json!({
        "schemas": schemas,
        "parameters": parameters,
        "responses": refusals::components(),
        "headers": header_components(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "The token that a sign-in gives."},
            "basic": {
                "type": "http", "scheme": "basic",
                "description": "`<organization>_<user>` as the name, and the token as the password.",
            },
        },
    })
}
