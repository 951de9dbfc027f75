//! The description of a tool's routes in the OpenAPI document, from the declaration of the tool.

use api_kit::caller_names;
use api_kit::openapi::{Inputs, OperationDoc, Parameter, RequestBody};
use runner::{RoutedTool, ToolEffect, ToolRoute};
use serde_json::Value;

use crate::sections;

/// Parameters and body.
pub(super) fn describe_inputs(tool: &RoutedTool, route: ToolRoute) -> Inputs {
    let properties = tool.input_schema["properties"].as_object().cloned().unwrap_or_default();
    let is_in_path = |name: &str| route.parameters().any(|parameter| parameter == name);
    let in_path = route
        .parameters()
        .map(|name| Parameter::of_schema("path", name, &tool.input_schema["properties"][name]).required());
    let mut parameters: Vec<_> = in_path.collect();
    let body = route.verb.has_body().then(|| describe_body(tool, route));
    if body.is_none() {
        let others = properties.iter().filter(|(name, _)| !is_in_path(name));
        parameters.extend(others.map(|(name, schema)| Parameter::of_schema("query", name, &strip_null(schema))));
    }
    parameters.extend(caller_names::list_parameters());
    Inputs { parameters, body, streams: false }
}

/// Texts and responses.
pub(super) fn describe_operation(tool: &RoutedTool, route: ToolRoute) -> OperationDoc {
    let status = if tool.effect == ToolEffect::Adds { 201 } else { 200 };
    OperationDoc::new(route.operation(tool.name), sections::LIBRARY, tool.title)
        .description(tool.description)
        .returns_schema(status, "The result.", tool.output_schema["oneOf"][0].clone())
        .in_envelopes()
}

/// The arguments that are not in the path.
fn describe_body(tool: &RoutedTool, route: ToolRoute) -> RequestBody {
    let mut schema = tool.input_schema.clone();
    for name in route.parameters() {
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.remove(name);
        }
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|required| required != name);
        }
    }
    let is_required = schema["required"].as_array().is_some_and(|required| !required.is_empty());
    RequestBody { name: tool.name, schema, example: None, is_required }
}

/// The schema of a value that is not null, which no query has.
fn strip_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some([kind, _]) = schema["type"].as_array().map(Vec::as_slice) {
        schema["type"] = kind.clone();
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    schema
}
