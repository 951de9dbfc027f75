//! Parameters in paths, queries and headers.

use serde_json::{Value, json};

/// A parameter as the document shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(super) name: &'static str,
    pub(super) location: &'static str,
    required: bool,
    description: &'static str,
    schema: Value,
}

impl Parameter {
    pub(crate) const fn path(name: &'static str, description: &'static str, schema: Value) -> Self {
        Self { name, location: "path", required: true, description, schema }
    }

    pub(crate) const fn query(name: &'static str, description: &'static str, schema: Value) -> Self {
        Self { name, location: "query", required: false, description, schema }
    }

    pub(crate) const fn header(name: &'static str, description: &'static str, schema: Value) -> Self {
        Self { name, location: "header", required: false, description, schema }
    }

    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(super) fn is_described(&self) -> bool {
        !self.description.is_empty()
    }

    pub(super) fn rendered(&self) -> Value {
        let Self { name, location, required, description, schema } = self;
        json!({"name": name, "in": location, "required": required, "description": description, "schema": schema})
    }
}
