//! A schema with its price, compiled in this process unless that is expensive.

use std::sync::Arc;

use jsonschema::Validator;
use registry::{HeapBytes, RawJson, SchemaText, allocated, do_heavy_work};
use serde_json::Value;

use super::compiled;
use super::cost::{Cost, Price};
use super::integers::{Integers, has_fractions};
use super::walk;
use super::wire::Document;
use crate::error::{Error, SchemaViolation};

/// Steps of compiling a schema in this process, some 25 milliseconds. A schema of 1,000 parts with a dozen ordinary
/// patterns takes a tenth of it.
const COMPILE_MAX: u64 = 5_000_000;
/// Nested calls of the matcher that fit into a stack of 2 MiB.
pub(super) const INLINE_DEPTH_MAX: u64 = 100;

/// A schema with a known price. Patterns are matched in linear time, and no reference leaves the document.
#[derive(Debug, Clone)]
pub struct InputSchema {
    /// `None` when compiling the schema in this process would cost too much.
    pub(super) validator: Option<Arc<Validator>>,
    pub(super) cost: Arc<Cost>,
    /// The document for schema workers.
    pub(super) document: Document,
    /// Whether the schema calls any number an integer.
    has_integers: bool,
    /// An estimate of the bytes of all of these.
    bytes: usize,
}

impl InputSchema {
    /// Prices a schema, and compiles it when that is cheap.
    /// [`SchemaMatcher::compile_expensive`](super::SchemaMatcher::compile_expensive) checks whether an expensive schema
    /// compiles.
    ///
    /// # Errors
    /// The reason why the document is not a JSON Schema, or costs too much, with a JSON pointer to the place.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let cost = walk::price(schema)?;
        let validator = (cost.steps.compile <= COMPILE_MAX).then(|| compiled::build_validator(schema)).transpose()?;
        let document = Document::of(schema).map_err(|error| error.to_string())?;
        let compiled = if validator.is_some() { compiled::estimate_bytes(schema, &cost) } else { 0 };
        let bytes = allocated(document.bytes().len()) + compiled + size_of::<Cost>();
        let has_integers = Integers::are_in(schema);
        Ok(Self { validator: validator.map(Arc::new), cost: Arc::new(cost), document, has_integers, bytes })
    }

    /// Spells the integers of a valid input without fraction and exponent, so that they are integers in every language. `None` when they
    /// are already.
    ///
    /// # Errors
    /// When the process ends.
    pub(crate) async fn spell_integers(&self, input: &RawJson) -> Result<Option<RawJson>, Error> {
        if !self.has_integers || !has_fractions(input.as_str()) {
            return Ok(None);
        }
        let (document, input, bytes) = (self.document.clone(), input.clone(), input.bytes());
        let spell = move || {
            let schema = document.read_value().ok()?;
            let mut value = Value::Object(input.members().ok()?);
            Integers::of(&schema).spell(&mut value);
            value.as_object().map(RawJson::from)
        };
        do_heavy_work(bytes, spell).await.map_err(|error| Error::internal(error.to_string()))
    }

    /// The price of matching an input, which is known before matching.
    #[must_use]
    pub fn price(&self, input: &Value) -> Price {
        self.cost.with(input)
    }

    /// Whether a value matches. `None` when matching costs more than `steps_max`, or when the schema is not compiled in
    /// this process.
    #[must_use]
    pub fn accepts(&self, value: &Value, steps_max: u64) -> Option<bool> {
        let validator = self.validator.as_deref()?;
        let price = self.cost.with(value);
        (price.steps <= steps_max && price.depth <= INLINE_DEPTH_MAX).then(|| validator.is_valid(value))
    }
}

impl HeapBytes for InputSchema {
    fn heap_bytes(&self) -> usize {
        self.bytes
    }
}

/// Compiles the stored schema of a version on a blocking thread, since large schemas take long.
///
/// # Errors
/// `InvalidInput` when this release refuses the schema.
pub(crate) async fn compile(schema: Option<&SchemaText>) -> Result<Option<InputSchema>, Error> {
    let Some(schema) = schema.cloned() else { return Ok(None) };
    let compiled = tokio::task::spawn_blocking(move || InputSchema::compile(&schema.value())).await;
    compiled.map_err(|error| Error::internal(error.to_string()))?.map(Some).map_err(refuse_unsupported)
}

/// The error for a version that was published when schemas were allowed to cost more.
fn refuse_unsupported(problem: String) -> Error {
    let message = format!("the schema of this version is refused: {problem}. Publish a version with a simpler schema");
    Error::InvalidInput { violations: vec![SchemaViolation { input_index: 0, pointer: String::new(), message }] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_large_pattern_is_refused() {
        let pattern = |text: &str| InputSchema::compile(&json!({"properties": {"a": {"pattern": text}}}));
        assert!(pattern("^[a-z]{1,64}$").is_ok());
        assert!(pattern("(a{1000}){1000}").is_err());
        assert!(pattern("(").unwrap_err().contains("/properties/a/pattern"));
    }

    #[test]
    fn a_value_beyond_the_bound_of_the_caller_is_not_matched() {
        let schema = InputSchema::compile(&json!({"items": {"type": "integer"}})).unwrap();
        assert_eq!(schema.accepts(&json!([1]), 100), Some(true));
        assert_eq!(schema.accepts(&json!(["1"]), 100), Some(false));
        assert_eq!(schema.accepts(&json!(vec![1; 1_000]), 100), None);
        let expensive = InputSchema::compile(&json!({"pattern": r"\p{L}".repeat(500)})).unwrap();
        assert_eq!(expensive.accepts(&json!("x"), 1_000_000_000), None);
    }
}
