//! A tool's input schema, compiled once per version.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::error::{Error, Misfit};
use crate::outcome::cut;
use crate::schema_bounds;

/// More misfits than this tell a caller nothing new.
const MISFITS_MAX: usize = 20;
/// A message quotes the schema, which may be long.
const MESSAGE_BYTES_MAX: usize = 500;

/// How long matching against a schema that refers to itself may take. Only
/// then can a small input take for ever.
const RECURSIVE_WALL_MAX: Duration = Duration::from_secs(2);
/// Threads that such matching may hold; one that hangs holds its thread.
const RECURSIVE_THREADS_MAX: usize = 4;
/// An input is at most 128 deep, and a schema 100 for each of those levels.
const RECURSIVE_STACK_BYTES: usize = 64 << 20;

static RECURSIVE_THREADS: AtomicUsize = AtomicUsize::new(0);

/// A validator of `input_parameters`. Patterns are matched in linear time and
/// no reference leaves the document.
#[derive(Debug, Clone)]
pub struct InputSchema {
    validator: Arc<Validator>,
    recursive: bool,
}

impl InputSchema {
    /// # Errors
    /// The reason why the document is no JSON Schema, or one that costs too much.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let recursive = schema_bounds::is_recursive(schema)?;
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        let validator = options.build(schema).map_err(|error| error.to_string())?;
        Ok(Self { validator: Arc::new(validator), recursive })
    }

    /// Matches all inputs of a call.
    ///
    /// # Errors
    /// Every way in which an input misses the schema, up to a bound.
    pub(crate) async fn validate(&self, inputs: Vec<Map<String, Value>>) -> Result<(), Error> {
        let misfits = if self.recursive { self.on_a_thread(inputs).await? } else { self.misfits(inputs) };
        if misfits.is_empty() { Ok(()) } else { Err(Error::InvalidInput { misfits }) }
    }

    fn misfits(&self, inputs: Vec<Map<String, Value>>) -> Vec<Misfit> {
        let all = inputs.into_iter().enumerate().flat_map(|(index, input)| self.of_one(index, input));
        all.take(MISFITS_MAX).collect()
    }

    fn of_one(&self, input_index: usize, input: Map<String, Value>) -> Vec<Misfit> {
        let input = Value::Object(input);
        let errors = self.validator.iter_errors(&input).take(MISFITS_MAX);
        let misfit = |error: jsonschema::ValidationError<'_>| Misfit {
            input_index,
            pointer: error.instance_path().to_string(),
            message: cut(error.masked().to_string(), MESSAGE_BYTES_MAX),
        };
        errors.map(misfit).collect()
    }

    async fn on_a_thread(&self, inputs: Vec<Map<String, Value>>) -> Result<Vec<Misfit>, Error> {
        if RECURSIVE_THREADS.fetch_add(1, Ordering::SeqCst) >= RECURSIVE_THREADS_MAX {
            RECURSIVE_THREADS.fetch_sub(1, Ordering::SeqCst);
            return Err(Error::Overloaded { retry_after: RECURSIVE_WALL_MAX });
        }
        let (answer, answered) = oneshot::channel();
        let schema = self.clone();
        let work = move || {
            drop(answer.send(schema.misfits(inputs))); // who asked may have given up
            RECURSIVE_THREADS.fetch_sub(1, Ordering::SeqCst);
        };
        let builder = std::thread::Builder::new().name("schema".into()).stack_size(RECURSIVE_STACK_BYTES);
        builder.spawn(work).map_err(|error| Error::internal(error.to_string()))?;
        match tokio::time::timeout(RECURSIVE_WALL_MAX, answered).await {
            Ok(misfits) => misfits.map_err(|_| Error::internal("a schema could not be matched")),
            Err(_) => Ok(vec![Misfit {
                input_index: 0,
                pointer: String::new(),
                message: "takes too long to match against the tool's recursive schema".into(),
            }]),
        }
    }
}
