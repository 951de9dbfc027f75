//! A tool's input schema, compiled once per version, and matched within bounds that are known before.

mod cost;

use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, oneshot};

use crate::error::{Error, Misfit};
use crate::outcome::cut;
use cost::Cost;

/// More misfits than this tell a caller nothing new.
const MISFITS_MAX: usize = 20;
/// A message quotes the schema, which may be long.
const MESSAGE_BYTES_MAX: usize = 500;
/// Bytes of one compiled pattern.
const PATTERN_COMPILED_BYTES_MAX: usize = 64 * 1024;

/// How often a part of the schema may meet a value of an input; a core needs half a second for it. A list of 100,000
/// numbers may meet a schema of 1,000 parts.
const MEETINGS_MAX: u64 = 100_000_000;
/// Up to here the ways in which an input misses the schema are told; each meeting may become an error in memory.
const EXPLAINED_MAX: u64 = 200_000;
/// Up to here, a fraction of a millisecond, matching does not leave the thread.
const INLINE_MAX: u64 = 20_000;
/// Inputs matched at once on threads of their own, so that the other threads go on.
const THREADS_MAX: usize = 2;
/// An input is at most 128 deep, and a schema 100 for each of those levels.
const THREAD_STACK_BYTES: usize = 64 << 20;

static THREADS: Semaphore = Semaphore::const_new(THREADS_MAX);

/// A validator of `input_parameters`. Patterns are matched in linear time and
/// no reference leaves the document.
#[derive(Debug, Clone)]
pub struct InputSchema {
    validator: Arc<Validator>,
    cost: Cost,
}

impl InputSchema {
    /// # Errors
    /// The reason why the document is no JSON Schema, or one that costs too much.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let cost = Cost::of(schema)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_COMPILED_BYTES_MAX);
        let options = jsonschema::options().with_pattern_options(patterns.dfa_size_limit(PATTERN_COMPILED_BYTES_MAX));
        let validator = options.build(schema).map_err(|error| error.to_string())?;
        Ok(Self { validator: Arc::new(validator), cost })
    }

    /// Whether one value of the author's matches, however long that takes.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Matches all inputs of a call.
    ///
    /// # Errors
    /// Every way in which an input misses the schema, up to a bound.
    pub(crate) async fn validate(&self, inputs: Vec<Map<String, Value>>) -> Result<(), Error> {
        let misfits = self.found(inputs.into_iter().map(Value::Object).collect()).await?;
        if misfits.is_empty() { Ok(()) } else { Err(Error::InvalidInput { misfits }) }
    }

    /// Every way in which one value misses the schema, up to a bound.
    ///
    /// # Errors
    /// When the host has no thread to give.
    pub async fn misfits_of(&self, value: Value) -> Result<Vec<Misfit>, Error> {
        self.found(vec![value]).await
    }

    async fn found(&self, inputs: Vec<Value>) -> Result<Vec<Misfit>, Error> {
        let costs: Vec<u64> = inputs.iter().map(|input| self.cost.with(input)).collect();
        let cost = costs.iter().fold(0_u64, |sum, cost| sum.saturating_add(*cost));
        Ok(match costs.iter().position(|cost| *cost > MEETINGS_MAX) {
            Some(input_index) => vec![too_much(input_index)],
            None if cost <= INLINE_MAX && !self.cost.is_recursive() => self.misfits(&inputs, &costs),
            None => self.on_a_thread(inputs, costs).await?,
        })
    }

    fn misfits(&self, inputs: &[Value], costs: &[u64]) -> Vec<Misfit> {
        let all = inputs.iter().zip(costs).enumerate();
        all.flat_map(|(index, (input, cost))| self.of_one(index, input, *cost)).take(MISFITS_MAX).collect()
    }

    fn of_one(&self, input_index: usize, input: &Value, cost: u64) -> Vec<Misfit> {
        if self.validator.is_valid(input) {
            return Vec::new();
        }
        if cost > EXPLAINED_MAX {
            let message = "does not match the tool's schema; it is too large to tell where".into();
            return vec![Misfit { input_index, pointer: String::new(), message }];
        }
        let misfit = |error: ValidationError<'_>| Misfit {
            input_index,
            pointer: error.instance_path().to_string(),
            message: cut(error.masked().to_string(), MESSAGE_BYTES_MAX),
        };
        self.validator.iter_errors(input).take(MISFITS_MAX).map(misfit).collect()
    }

    async fn on_a_thread(&self, inputs: Vec<Value>, costs: Vec<u64>) -> Result<Vec<Misfit>, Error> {
        let place = THREADS.acquire().await.map_err(|error| Error::internal(error.to_string()))?;
        let (answer, answered) = oneshot::channel();
        let schema = self.clone();
        let work = move || {
            let _place = place;
            drop(answer.send(schema.misfits(&inputs, &costs))); // who asked may have given up
        };
        let builder = std::thread::Builder::new().name("schema".into()).stack_size(THREAD_STACK_BYTES);
        builder.spawn(work).map_err(|error| Error::internal(error.to_string()))?;
        answered.await.map_err(|_| Error::internal("a schema could not be matched"))
    }
}

fn too_much(input_index: usize) -> Misfit {
    let message = "is too large, or too deep, to be matched against the tool's schema; give less at once";
    Misfit { input_index, pointer: String::new(), message: message.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn refusal(schema: &Value, input: Value) -> String {
        let Value::Object(input) = input else { panic!("an object") };
        match InputSchema::compile(schema).unwrap().validate(vec![input]).await {
            Ok(()) => "none".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// An input `depth` deep in `c`.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!({}), |inner, _| json!({"c": inner}))
    }

    #[tokio::test]
    async fn recursion_in_two_ways_ends_before_it_begins() {
        let branch = json!({"properties": {"c": {"$ref": "#"}}, "required": ["x"]});
        let other = json!({"properties": {"c": {"$ref": "#"}}, "required": ["y"]});
        let schema = json!({"anyOf": [branch, other]});
        assert!(refusal(&schema, nested(5)).await.contains("not valid"), "{}", refusal(&schema, nested(5)).await);
        assert!(refusal(&schema, nested(60)).await.contains("too deep"));
        let list = json!({"properties": {"c": {"$ref": "#"}}});
        assert_eq!(refusal(&list, nested(120)).await, "none");
    }

    #[tokio::test]
    async fn a_wide_schema_and_a_long_input_are_refused() {
        let branches: Vec<Value> = (0..4_000).map(|number| json!({"const": number})).collect();
        let schema = json!({"properties": {"v": {"items": {"anyOf": branches}}}});
        assert_eq!(refusal(&schema, json!({"v": [1, 2, 3]})).await, "none");
        assert!(refusal(&schema, json!({"v": [-1]})).await.contains("/v/0"));
        assert!(refusal(&schema, json!({"v": vec![-1; 1_000]})).await.contains("too large to tell where"));
        assert!(refusal(&schema, json!({"v": vec![1; 20_000]})).await.contains("give less at once"));
    }

    #[test]
    fn a_pattern_of_great_size_is_refused() {
        let pattern = |text: &str| InputSchema::compile(&json!({"pattern": text}));
        assert!(pattern("^[a-z]{1,64}$").is_ok());
        assert!(pattern("(a{1000}){1000}").is_err());
    }
}
