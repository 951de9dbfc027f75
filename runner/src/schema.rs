//! A tool's input schema, compiled once per version.

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::error::Misfit;

/// More misfits than this tell a caller nothing new.
const MISFITS_MAX: usize = 20;

/// A validator of `input_parameters`. Patterns are matched in linear time and
/// no reference leaves the document.
#[derive(Debug, Clone)]
pub struct InputSchema(Arc<Validator>);

impl InputSchema {
    /// # Errors
    /// The reason why the document is no JSON Schema.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map(|validator| Self(Arc::new(validator)))
            .map_err(|error| error.to_string())
    }

    /// Every way in which one input misses the schema.
    pub(crate) fn misfits(&self, input_index: usize, input: &Map<String, Value>) -> Vec<Misfit> {
        let input = Value::Object(input.clone());
        self.0
            .iter_errors(&input)
            .take(MISFITS_MAX)
            .map(|error| Misfit { input_index, pointer: error.instance_path().to_string(), message: error.to_string() })
            .collect()
    }
}
