//! A parameter in a path, a query or a header.

use serde_json::{Value, json};

/// One parameter as the document shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(super) name: &'static str,
    pub(super) place: &'static str,
    required: bool,
    says: &'static str,
    schema: Value,
}

impl Parameter {
    pub(crate) const fn path(name: &'static str, says: &'static str, schema: Value) -> Self {
        Self { name, place: "path", required: true, says, schema }
    }

    pub(crate) const fn query(name: &'static str, says: &'static str, schema: Value) -> Self {
        Self { name, place: "query", required: false, says, schema }
    }

    pub(crate) const fn header(name: &'static str, says: &'static str, schema: Value) -> Self {
        Self { name, place: "header", required: false, says, schema }
    }

    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(super) fn has_words(&self) -> bool {
        !self.says.is_empty()
    }

    pub(super) fn rendered(&self) -> Value {
        let Self { name, place, required, says, schema } = self;
        json!({"name": name, "in": place, "required": required, "description": says, "schema": schema})
    }
}
