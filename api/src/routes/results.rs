//! Running a call and rendering what came of it, as invoke and branch test answer.

use futures_util::stream::poll_fn;
use registry::InvocationId;
use runner::{Call, EventSender, Invoker, Outcome, RunResult, StatusEvent};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::work::{Answer, Event, Events};

#[derive(Serialize)]
struct Response {
    /// In the order of the inputs.
    invocation_results: Vec<InvocationResult>,
}

#[derive(Serialize)]
struct InvocationResult {
    #[serde(flatten)]
    outcome: InvocationOutcome,
    duration_ms: u64,
    /// Ours: the name of the record, and whether it belongs to its conversation's log.
    invocation_id: InvocationId,
    persisted: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum InvocationOutcome {
    Succeeded { succeeded: bool, output: String },
    Failed { succeeded: bool, exception_message: String, exception_type: String, exception_stack_trace: Vec<String> },
}

#[derive(Serialize)]
struct Status {
    invocation_id: InvocationId,
    input_index: usize,
    message: String,
    progress: Option<f64>,
    total: Option<f64>,
    data: Option<Value>,
}

/// Runs a call, passing its status events on while it runs.
pub(super) async fn run(invoker: &Invoker, call: Call, events: &Events) -> Result<Answer, Error> {
    let (sender, mut statuses) = EventSender::channel();
    let statuses = poll_fn(|context| statuses.poll_recv(context));
    let runs = invoker.invoke(call, sender);
    let results = events.pass_on(runs, statuses, |status| Event::new("status", &Status::from(status))).await?;
    Answer::ok(&Response { invocation_results: results.into_iter().map(InvocationResult::from).collect() })
}

impl From<RunResult> for InvocationResult {
    fn from(result: RunResult) -> Self {
        let outcome = match result.outcome {
            Outcome::Succeeded { output } => InvocationOutcome::Succeeded { succeeded: true, output },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                InvocationOutcome::Failed { succeeded: false, exception_message, exception_type, exception_stack_trace }
            }
        };
        let RunResult { invocation_id, duration_ms, persisted, .. } = result;
        Self { outcome, duration_ms, invocation_id, persisted }
    }
}

impl From<StatusEvent> for Status {
    fn from(event: StatusEvent) -> Self {
        let StatusEvent { invocation_id, input_index, message, progress, total, data } = event;
        Self { invocation_id, input_index, message, progress, total, data }
    }
}
