//! Parameters in paths, queries and headers.

use std::borrow::Cow;

use serde_json::{Value, json};

/// A parameter as the document shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub(super) name: Cow<'static, str>,
    pub(super) location: &'static str,
    required: bool,
    description: Cow<'static, str>,
    schema: Value,
}

impl Parameter {
    pub const fn path(name: &'static str, description: &'static str, schema: Value) -> Self {
        let (name, description) = (Cow::Borrowed(name), Cow::Borrowed(description));
        Self { name, location: "path", required: true, description, schema }
    }

    pub const fn query(name: &'static str, description: &'static str, schema: Value) -> Self {
        let (name, description) = (Cow::Borrowed(name), Cow::Borrowed(description));
        Self { name, location: "query", required: false, description, schema }
    }

    pub const fn header(name: &'static str, description: &'static str, schema: Value) -> Self {
        let (name, description) = (Cow::Borrowed(name), Cow::Borrowed(description));
        Self { name, location: "header", required: false, description, schema }
    }

    /// A parameter that a schema with a description describes.
    pub fn of_schema(location: &'static str, name: &str, schema: &Value) -> Self {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
        let description = Cow::Owned(description.as_str().unwrap_or_default().to_owned());
        Self { name: Cow::Owned(name.to_owned()), location, required: false, description, schema }
    }

    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(super) fn is_described(&self) -> bool {
        !self.description.is_empty()
    }

    pub(super) fn render(&self) -> Value {
        let Self { name, location, required, description, schema } = self;
        json!({"name": name, "in": location, "required": required, "description": description, "schema": schema})
    }
}
