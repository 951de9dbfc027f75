//! The declaration of a native tool.

use registry::Permission;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::effect::ToolEffect;
use super::reach::Reach;
use super::tool::{Handler, NativeCall};
use super::tool_route::ToolRoute;

/// A native tool as its file declares it. Fields that are `None` are missing. Its handler takes a `C`, which is made of a call.
pub struct NativeToolSpec<C = NativeCall> {
    /// The name for callers.
    pub name: &'static str,
    pub family: &'static str,
    pub title: Option<&'static str>,
    /// The description for callers.
    pub description: Option<&'static str>,
    /// The permission that callers need. Every signed-in user has [`Permission::OwnAccount`].
    pub permission: Option<Permission>,
    pub effect: Option<ToolEffect>,
    pub reach: Reach,
    /// Whether the result is an object that tells success from failure, also for a failure.
    pub has_envelope: bool,
    /// Places of values of any form, which no schema bounds and the handler does.
    pub bounded_by_handler: &'static [&'static str],
    /// The operations of the HTTP API that call the tool.
    pub routes: &'static [ToolRoute],
    pub input_schema: Option<fn() -> Value>,
    pub output_schema: Option<fn() -> Value>,
    pub handler: Option<Handler<C>>,
}

impl<C> NativeToolSpec<C> {
    /// A declaration to which everything else is added.
    #[must_use]
    pub const fn new(family: &'static str, name: &'static str) -> Self {
        Self {
            name,
            family,
            title: None,
            description: None,
            permission: None,
            effect: None,
            reach: Reach::Everywhere,
            has_envelope: false,
            bounded_by_handler: &[],
            routes: &[],
            input_schema: None,
            output_schema: None,
            handler: None,
        }
    }

    /// Adds the operations of the HTTP API that call the tool.
    #[must_use]
    pub const fn at(self, routes: &'static [ToolRoute]) -> Self {
        Self { routes, ..self }
    }
}

/// The JSON Schema of a type, without the header of a document and without references.
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
        schema.remove("title");
    }
    without_formats(&mut schema);
    schema
}

/// Removes the formats of Rust's integers, of which validators of other languages warn.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, value| {
                key != "format" || !value.as_str().is_some_and(|format| format.starts_with("uint"))
            });
            fields.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}
