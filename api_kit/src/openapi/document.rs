//! Renders the route table as an OpenAPI document.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::check::find_braced_names;
use super::headers::build_header_components;
use super::responses::build_responses;
use super::{OperationDoc, Parameter, RouteDoc, errors, schemas, tool_errors};
use crate::error::{Problem, Refusal};

const SPECIFICATION: &str = "3.1.0";

/// Operations below this path accept headers that clients of the contract send.
const CONTRACT_PREFIX: &str = "/v1/{organization}/tool";

/// The document of a route table. Routes without a description are left out; the start-up refuses them. `add_schemas` adds the
/// schemas of errors that have a form of their own.
pub fn build_document(table: &[RouteDoc], add_schemas: fn(&mut SchemaGenerator)) -> Value {
    let mut generator = build_generator();
    let mut paths = Map::new();
    let mut bodies = Map::new();
    let mut tags = BTreeSet::new();
    for route in table {
        let Some(operation) = route.operation else { continue };
        let path = route.path.replace("{*", "{");
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[route.method.to_lowercase()] = render_operation(route, operation, &mut generator);
        tags.insert(operation.tag);
        if let Some(body) = &route.inputs.body {
            bodies.insert(body.name.to_owned(), body.schema.clone());
        }
    }
    let tags: Vec<Value> = tags.iter().map(|tag| json!({"name": tag.name, "description": tag.description})).collect();
    json!({
        "openapi": SPECIFICATION,
        "info": build_info(),
        "servers": [{"url": "/", "description": "This server."}],
        "tags": tags,
        "paths": paths,
        "components": build_components(generator, bodies, add_schemas),
    })
}

/// A generator of schemas of serialised types, for `components.schemas`.
fn build_generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.for_serialize().into_generator()
}

fn build_info() -> Value {
    json!({
        "title": "Lathe",
        "version": env!("CARGO_PKG_VERSION"),
        "summary": "Turns git commits into versioned, sandboxed, recorded tools.",
        "description": "An organisation pushes tools to its own git repository, publishes versions of them, and calls \
            them. Every run executes in a WebAssembly sandbox and leaves a record.\n\nSign in with an API key, then \
            send the token as `Authorization: Bearer <id_token>`, or as the password of Basic authentication with \
            the user name `<organization>_<user>`, which git and package installers use. The API key itself can \
            stand for the token in both. Every path works with and \
            without a slash at its end. Unknown fields, parameters and headers are ignored.\n\nThe body of an error \
            is `{\"detail\": …, \"code\": …}`; the [error reference](/docs/errors) explains each code. Resources of \
            another organisation are reported as not found.",
        "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    })
}

fn render_operation(route: &RouteDoc, operation: &OperationDoc, generator: &mut SchemaGenerator) -> Value {
    let mut rendered = json!({
        "operationId": operation.id,
        "tags": [operation.tag.name],
        "summary": operation.summary,
        "description": describe_operation(route, operation),
        "parameters": build_parameters(route, operation),
        "responses": build_responses(route, operation, generator),
        "security": build_security(route),
    });
    if let Some(permission) = route.permission {
        rendered["x-permission"] = json!(permission.as_str());
    }
    if let Some(body) = build_request_body(route, operation) {
        rendered["requestBody"] = body;
    }
    rendered
}

fn describe_operation(route: &RouteDoc, operation: &OperationDoc) -> String {
    let text = operation.description;
    route.permission.map_or_else(|| text.to_owned(), |permission| format!("{text}\n\nNeeds `{permission}`."))
}

fn build_security(route: &RouteDoc) -> Value {
    if route.permission.is_some() { json!([{"bearer": []}, {"basic": []}]) } else { json!([]) }
}

fn build_parameters(route: &RouteDoc, operation: &OperationDoc) -> Vec<Value> {
    let mut parameters = Vec::new();
    if find_braced_names(route.path).any(|name| name == "organization") {
        parameters.push(json!({"$ref": "#/components/parameters/organization"}));
    }
    if route.permission.is_some() {
        parameters.push(json!({"$ref": "#/components/parameters/named"}));
    }
    let own = route.inputs.parameters.iter().chain(&operation.parameters);
    parameters.extend(own.map(Parameter::render));
    if route.path.starts_with(CONTRACT_PREFIX) {
        let ignored = list_shared_parameters().into_iter().skip(2);
        parameters.extend(ignored.map(|(key, _)| json!({"$ref": format!("#/components/parameters/{key}")})));
    }
    parameters
}

/// The organisation in the path and in a header, then the headers that are ignored.
fn list_shared_parameters() -> [(&'static str, Parameter); 4] {
    let organization = "The organisation's id.";
    let named = "The organisation's id; it must be the one in the path, or that of the credentials.";
    let ignored = "Compatibility: clients of the contract send it, and the server ignores it.";
    let cluster = json!({"type": ["string", "null"]});
    let protocols = json!({"type": "array", "items": {"type": "string"}, "default": []});
    [
        ("organization", Parameter::path("organization", organization, schemas::text())),
        ("named", Parameter::header("X-ORG-ID", named, schemas::text())),
        ("cluster", Parameter::header("x-mongo-cluster-name", ignored, cluster)),
        ("protocols", Parameter::header("Sec-WebSocket-Protocol", ignored, protocols)),
    ]
}

fn build_request_body(route: &RouteDoc, operation: &OperationDoc) -> Option<Value> {
    if let Some(body) = &route.inputs.body {
        let schema = json!({"$ref": format!("#/components/schemas/{}", body.name)});
        let mut content = json!({"application/json": {"schema": schema}});
        if let Some(example) = &body.example {
            content["application/json"]["example"] = example.clone();
        }
        return Some(json!({"required": body.is_required, "content": content}));
    }
    if let Some(form) = operation.form {
        let content = json!({"application/x-www-form-urlencoded": {"schema": form()}});
        return Some(json!({"required": true, "content": content}));
    }
    let content = operation.binary_bodies.iter().map(|media_type| ((*media_type).to_owned(), json!({})));
    let content: Map<_, _> = content.collect();
    (!content.is_empty()).then(|| json!({"required": true, "content": content}))
}

fn build_components(
    mut generator: SchemaGenerator,
    bodies: Map<String, Value>,
    add_schemas: fn(&mut SchemaGenerator),
) -> Value {
    let problem = generator.subschema_for::<Problem>().to_value();
    generator.subschema_for::<Refusal>();
    add_schemas(&mut generator);
    let mut schemas = generator.take_definitions(true);
    schemas.insert("InvalidRequest".to_owned(), errors::build_invalid_request(&problem));
    schemas.insert("JsonRpcError".to_owned(), errors::build_json_rpc_error());
    schemas.insert("ToolFailure".to_owned(), tool_errors::build_schema());
    schemas.extend(bodies);
    let mut responses = errors::build_components();
    responses.extend(tool_errors::build_components());
    let parameters: Map<_, _> =
        list_shared_parameters().into_iter().map(|(key, parameter)| (key.to_owned(), parameter.render())).collect();
    json!({
        "schemas": schemas,
        "parameters": parameters,
        "responses": responses,
        "headers": build_header_components(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "The token that a sign-in returns, or an API key."},
            "basic": {
                "type": "http", "scheme": "basic",
                "description": "`<organization>_<user>` or `<user>` as the name, and the token or the API key as the password.",
            },
        },
    })
}
