//! Matches inputs, outputs and checks against schemas. Cheap values are matched in this process, expensive ones in
//! schema workers.

use std::sync::Arc;

use registry::{Admission, AdmissionBounds, OrganizationId, RawJson, do_heavy_work};
use serde_json::Value;

use super::compiled::SchemaParts;
use super::cost::Price;
use super::input_schema::{INLINE_DEPTH_MAX, InputSchema};
use super::thread;
use super::wire::{Call, MatchResponse};
use super::workers::{DEADLINE, WorkResult, Workers};
use crate::config::Config;
use crate::error::{Error, SchemaViolation};

/// Steps of all inputs of a call together, half a second of one core. They allow a list of 100,000 numbers and a schema
/// of 1,000 parts.
const STEPS_MAX: u64 = 100_000_000;
/// Steps up to which a call is matched on its own thread: a fraction of a millisecond.
const INLINE_MAX: u64 = 20_000;
/// Price up to which violations are listed on the same thread; see [`super::cost::Cost::price_explanation`].
const EXPLAINED_INLINE_MAX: u64 = 100_000;

/// Schema workers in use. One organisation uses at most one of them.
const PARALLEL_MAX: usize = 2;
const ORGANIZATION_PARALLEL_MAX: usize = 1;
/// Calls that wait for a worker: as many as runs may wait.
const QUEUED_MAX: usize = 256;
/// Outputs that wait for a worker, in a queue of their own. Their runs have ended, and a refusal would lose their
/// results. The bound is higher than the number of runs of any server.
const OUTPUTS_QUEUED_MAX: usize = 1 << 20;
const ORGANIZATION_QUEUED_MAX: usize = 192;

/// Matches values against schemas. Clones share their workers, which organisations use in turn.
#[derive(Clone)]
pub struct SchemaMatcher {
    admission: Admission,
    outputs: Admission,
    /// `None` in a process without schema workers, where threads match.
    workers: Option<Arc<Workers>>,
}

/// The queue in which a call waits, and the organisation that it counts for.
#[derive(Clone, Copy)]
struct QueueEntry<'a> {
    admission: &'a Admission,
    organization: &'a OrganizationId,
}

impl SchemaMatcher {
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(config: &Config) -> Result<Self, Error> {
        let bounds = AdmissionBounds {
            parallel_max: PARALLEL_MAX,
            queued_max: QUEUED_MAX,
            organization_parallel_max: ORGANIZATION_PARALLEL_MAX,
            organization_queued_max: ORGANIZATION_QUEUED_MAX,
        };
        let workers = config.schema_worker.as_deref().map(Workers::new).transpose()?;
        let output_bounds =
            AdmissionBounds { queued_max: OUTPUTS_QUEUED_MAX, organization_queued_max: OUTPUTS_QUEUED_MAX, ..bounds };
        let (admission, outputs) = (Admission::new("schemas", bounds), Admission::new("output_schemas", output_bounds));
        Ok(Self { admission, outputs, workers: workers.map(Arc::new) })
    }

    /// Compiles an expensive schema in a worker, with a deadline. A schema that is compiled already succeeds
    /// immediately.
    ///
    /// # Errors
    /// When the queue is full, or no worker can be started. The inner error is the reason why the schema is refused.
    pub async fn compile_expensive(
        &self,
        organization: &OrganizationId,
        schema: &InputSchema,
    ) -> Result<Result<(), String>, Error> {
        if schema.validator.is_some() {
            return Ok(Ok(()));
        }
        let entry = QueueEntry { admission: &self.admission, organization };
        Ok(match self.match_in_worker(entry, Call::new(schema.document.clone(), &[])?).await? {
            WorkResult::Responded(MatchResponse::Violations(_)) => Ok(()),
            WorkResult::Responded(MatchResponse::Refused(problem)) => Err(problem),
            WorkResult::Killed => Err(format!(
                "compiling the schema takes longer than {} s or more than 1 GiB of memory; simplify {}",
                DEADLINE.as_secs(),
                schema.cost.show_most_expensive()
            )),
        })
    }

    /// Matches all inputs of a call, which are objects.
    ///
    /// # Errors
    /// `InvalidInput` with the violations of the inputs, or when matching costs too much. Also when the queue is full.
    pub(crate) async fn validate(
        &self,
        organization: &OrganizationId,
        schema: &InputSchema,
        inputs: Vec<RawJson>,
    ) -> Result<(), Error> {
        let entry = QueueEntry { admission: &self.admission, organization };
        let bytes = inputs.iter().map(RawJson::bytes).sum();
        let parse = move || {
            let parsed = inputs.iter().map(|input| input.members().map(Value::Object));
            parsed.collect::<Result<Vec<_>, _>>().map_err(|error| refuse_unreadable(&error))
        };
        let violations = self.match_all(entry, schema, bytes, parse).await?;
        if violations.is_empty() { Ok(()) } else { Err(Error::InvalidInput { violations }) }
    }

    /// Returns the violations of one value, up to a bound.
    ///
    /// # Errors
    /// When the queue is full, or no worker can be started.
    pub async fn violations_of(
        &self,
        organization: &OrganizationId,
        schema: &InputSchema,
        value: Value,
    ) -> Result<Vec<SchemaViolation>, Error> {
        let entry = QueueEntry { admission: &self.admission, organization };
        self.match_all(entry, schema, 0, || Ok(vec![value])).await
    }

    /// Returns the violations of a run's output, up to a bound. Outputs wait in a queue of their own.
    ///
    /// # Errors
    /// When no worker can be started.
    pub(crate) async fn find_output_violations(
        &self,
        organization: &OrganizationId,
        schema: &InputSchema,
        value: Value,
    ) -> Result<Vec<SchemaViolation>, Error> {
        let entry = QueueEntry { admission: &self.outputs, organization };
        self.match_all(entry, schema, 0, || Ok(vec![value])).await
    }

    /// Matches values that `parse` makes from texts of some bytes. They are parsed and matched together, away from the threads that serve
    /// requests if there are many bytes: those that wait for a worker wait in their binary form.
    async fn match_all(
        &self,
        entry: QueueEntry<'_>,
        schema: &InputSchema,
        bytes: usize,
        parse: impl FnOnce() -> Result<Vec<Value>, SchemaViolation> + Send + 'static,
    ) -> Result<Vec<SchemaViolation>, Error> {
        let own = schema.clone();
        let matched = do_heavy_work(bytes, move || match parse() {
            Ok(values) => match_inline(&own, &values),
            Err(violation) => Ok(Matched::Violations(vec![violation])),
        });
        let (call, most_expensive) = match matched.await.map_err(|error| Error::internal(error.to_string()))?? {
            Matched::Violations(violations) => return Ok(violations),
            Matched::TooExpensive { call, most_expensive } => (call, most_expensive),
        };
        match Box::pin(self.match_in_worker(entry, call)).await? {
            WorkResult::Responded(MatchResponse::Violations(violations)) => {
                Ok(violations.into_iter().map(SchemaViolation::from).collect())
            }
            WorkResult::Responded(MatchResponse::Refused(problem)) => {
                Err(Error::internal(format!("a stored schema does not compile: {problem}")))
            }
            WorkResult::Killed => Ok(vec![refuse_too_long(schema, most_expensive)]),
        }
    }

    /// Matches in a worker, when it is the organisation's turn.
    async fn match_in_worker(&self, entry: QueueEntry<'_>, call: Call) -> Result<WorkResult, Error> {
        let admitted = entry.admission.admit(entry.organization, 1)?;
        let permit = admitted.permit().await.ok_or_else(|| Error::internal("the server is shutting down"))?;
        match &self.workers {
            Some(workers) => {
                let ended = workers.run(&call).await;
                drop(permit);
                ended
            }
            None => thread::run(call, permit).await,
        }
    }
}

/// The result of matching values on the thread that has them.
enum Matched {
    Violations(Vec<SchemaViolation>),
    /// A worker has to match them.
    TooExpensive {
        call: Call,
        /// The index of the most expensive value.
        most_expensive: usize,
    },
}

/// Matches cheap values, and encodes others for a worker.
fn match_inline(schema: &InputSchema, values: &[Value]) -> Result<Matched, Error> {
    let prices: Vec<Price> = values.iter().map(|value| schema.cost.with(value)).collect();
    let most_expensive = find_most_expensive(&prices);
    let steps = prices.iter().fold(0_u64, |sum, price| sum.saturating_add(price.steps));
    if steps > STEPS_MAX {
        return Ok(Matched::Violations(vec![refuse_too_much(schema, most_expensive)]));
    }
    if let Some(violations) = match_cheap(schema, values, &prices) {
        return Ok(Matched::Violations(violations));
    }
    let call = Call::new(schema.document.clone(), values)?;
    Ok(Matched::TooExpensive { call, most_expensive })
}

/// The violation of an input that cannot be parsed again, since it nests too deeply.
fn refuse_unreadable(error: &serde_json::Error) -> SchemaViolation {
    SchemaViolation { input_index: 0, pointer: String::new(), message: error.to_string() }
}

/// Matches cheap inputs; `None` when a worker has to match them.
fn match_cheap(schema: &InputSchema, inputs: &[Value], prices: &[Price]) -> Option<Vec<SchemaViolation>> {
    let validator = schema.validator.as_deref()?;
    let steps = prices.iter().fold(0_u64, |sum, price| sum.saturating_add(price.steps));
    let is_shallow = prices.iter().all(|price| price.depth <= INLINE_DEPTH_MAX);
    if steps > INLINE_MAX || !is_shallow {
        return None;
    }
    if inputs.iter().all(|input| validator.is_valid(input)) {
        return Some(Vec::new());
    }
    let explained = inputs.iter().fold(0_u64, |sum, input| sum.saturating_add(schema.cost.price_explanation(input)));
    let parts = SchemaParts { validator, cost: &schema.cost, document: &schema.document };
    (explained <= EXPLAINED_INLINE_MAX).then(|| parts.find_violations(inputs))
}

/// The index of the most expensive input.
fn find_most_expensive(prices: &[Price]) -> usize {
    let inputs = prices.iter().enumerate().max_by_key(|(_, price)| price.steps);
    inputs.map(|(index, _)| index).unwrap_or_default()
}

fn refuse_too_much(schema: &InputSchema, input_index: usize) -> SchemaViolation {
    let message = format!(
        "is too large or too deeply nested to be matched against the tool's schema: the inputs of a call may cost \
         {STEPS_MAX} steps together. Send smaller inputs, or ask the author to simplify {}",
        schema.cost.show_most_expensive()
    );
    SchemaViolation { input_index, pointer: String::new(), message }
}

fn refuse_too_long(schema: &InputSchema, input_index: usize) -> SchemaViolation {
    let message = format!(
        "could not be matched against the tool's schema within {} s and 1 GiB of memory. Send smaller inputs, or ask the \
         author to simplify {}",
        DEADLINE.as_secs(),
        schema.cost.show_most_expensive()
    );
    SchemaViolation { input_index, pointer: String::new(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matcher() -> SchemaMatcher {
        SchemaMatcher::start(&Config::new("unused".into(), [0; 32], "unused")).unwrap()
    }

    async fn refusal(schema: &Value, inputs: Vec<Value>) -> String {
        let schema = InputSchema::compile(schema).unwrap();
        let acme = OrganizationId::parse("acme").unwrap();
        let matcher = matcher();
        let entry = QueueEntry { admission: &matcher.admission, organization: &acme };
        let found = matcher.match_all(entry, &schema, 0, || Ok(inputs)).await.unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    /// An input `depth` deep in `c`.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!({}), |inner, _| json!({"c": inner}))
    }

    #[tokio::test]
    async fn recursion_in_two_ways_costs_what_matching_does() {
        let branch = json!({"properties": {"c": {"$ref": "#"}}, "required": ["x"]});
        let other = json!({"properties": {"c": {"$ref": "#"}}, "required": ["y"]});
        let schema = json!({"anyOf": [branch, other]});
        let told = refusal(&schema, vec![nested(5)]).await;
        assert!(told.contains("not valid"), "{told}");
        let told = refusal(&schema, vec![nested(60)]).await;
        assert!(told.contains("too large to list its violations"), "{told}");
        let list = json!({"properties": {"c": {"$ref": "#"}}});
        assert_eq!(refusal(&list, vec![nested(120)]).await, "");
    }

    /// A term of an arithmetic expression, as Rust and Python make its schema.
    fn term(depth: usize) -> Value {
        match depth.checked_sub(1) {
            None => json!({"kind": "number", "value": 1}),
            Some(less) => json!({"kind": "sum", "left": term(less), "right": term(less)}),
        }
    }

    #[tokio::test]
    async fn a_tree_of_eleven_levels_is_matched() {
        let operation = |kind: &str| {
            let term = json!({"$ref": "#/$defs/term"});
            let properties = json!({"kind": {"const": kind}, "left": term, "right": term});
            json!({"type": "object", "properties": properties, "required": ["kind", "left", "right"]})
        };
        let number =
            json!({"properties": {"kind": {"const": "number"}, "value": {"type": "integer"}}, "required": ["value"]});
        let kinds = ["sum", "product", "power", "difference"].map(operation);
        let terms: Vec<Value> = kinds.into_iter().chain([number]).collect();
        let schema = json!({"properties": {"term": {"$ref": "#/$defs/term"}}, "$defs": {"term": {"oneOf": terms}}});
        assert_eq!(refusal(&schema, vec![json!({"term": term(11)})]).await, "");
        let wrong = json!({"term": {"kind": "root"}});
        assert!(refusal(&schema, vec![wrong]).await.contains("/term"));
    }

    #[tokio::test]
    async fn a_wide_schema_and_a_long_input_are_refused() {
        let branches: Vec<Value> = (0..4_000).map(|number| json!({"const": number})).collect();
        let schema = json!({"properties": {"v": {"items": {"anyOf": branches}}}});
        assert_eq!(refusal(&schema, vec![json!({"v": [1, 2, 3]})]).await, "");
        assert!(refusal(&schema, vec![json!({"v": [-1]})]).await.contains("/v/0"));
        assert!(
            refusal(&schema, vec![json!({"v": vec![-1; 1_000]})]).await.contains("too large to list its violations")
        );
        let told = refusal(&schema, vec![json!({"v": [1]}), json!({"v": vec![1; 20_000]})]).await;
        assert!(told.starts_with("inputs[1]") && told.contains("Send smaller inputs"), "{told}");
    }

    #[tokio::test]
    async fn the_inputs_of_a_call_are_priced_together() {
        let branches: Vec<Value> = (0..1_000).map(|number| json!({"const": number})).collect();
        let schema = json!({"items": {"anyOf": branches}});
        let long = json!(vec![0; 10_000]);
        let price = InputSchema::compile(&schema).unwrap().price(&long).steps;
        let fits = usize::try_from(STEPS_MAX / price).unwrap();
        assert!((1..10).contains(&fits), "{price} steps each");
        assert_eq!(refusal(&schema, vec![long.clone(); fits]).await, "");
        assert!(refusal(&schema, vec![long; fits + 1]).await.contains("together"));
    }

    #[tokio::test]
    async fn an_expensive_schema_is_compiled_in_a_worker() {
        let acme = OrganizationId::parse("acme").unwrap();
        let letters = json!({"pattern": r"\p{L}".repeat(600)});
        let schema = InputSchema::compile(&letters).unwrap();
        assert!(schema.validator.is_none());
        let problem = matcher().compile_expensive(&acme, &schema).await.unwrap().unwrap_err();
        assert!(problem.contains("/pattern"), "{problem}");
        let schema = InputSchema::compile(&json!({"pattern": r"\cA".repeat(1_200)})).unwrap();
        assert!(schema.validator.is_none());
        assert_eq!(matcher().compile_expensive(&acme, &schema).await.unwrap(), Ok(()));
        let violations = matcher().violations_of(&acme, &schema, json!("x")).await.unwrap();
        assert_eq!(violations.len(), 1, "{violations:?}");
    }
}
