//! Running a call and rendering what came of it, as invoke and branch test answer.

use futures_util::stream::poll_fn;
use registry::{Finished, Invocation, InvocationId};
use runner::{Call, EventSender, Invoker, Outcome, RunResult, StatusEvent};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::work::{Answer, Event, Events};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InvocationResults")]
pub(super) struct Response {
    /// In the order of the inputs.
    invocation_results: Vec<InvocationResult>,
}

/// How one run ended.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InvocationResult {
    #[serde(flatten)]
    outcome: InvocationOutcome,
    duration_ms: u64,
    /// Names the record of the run.
    invocation_id: InvocationId,
    /// Whether the output belongs to the log of its conversation.
    persisted: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum InvocationOutcome {
    Succeeded {
        #[schemars(extend("const" = true))]
        succeeded: bool,
        output: String,
    },
    Failed {
        #[schemars(extend("const" = false))]
        succeeded: bool,
        exception_message: String,
        exception_type: String,
        exception_stack_trace: Vec<String>,
    },
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

/// What an answer looks like.
pub(crate) fn example() -> Value {
    json!({"invocation_results": [
        {
            "succeeded": true, "output": "HELLO", "duration_ms": 9,
            "invocation_id": "691f3b2a5c1e4d7f8a9b0c1d", "persisted": false,
        },
        {
            "succeeded": false, "exception_type": "ValueError", "exception_message": "too short",
            "exception_stack_trace": ["  File \"tool.py\", line 4, in run_tool"], "duration_ms": 11,
            "invocation_id": "691f3b2a5c1e4d7f8a9b0c1e", "persisted": false,
        },
    ]})
}

/// Runs a call, passing its status events on while it runs.
pub(super) async fn run(invoker: &Invoker, call: Call, events: &Events) -> Result<Answer, Error> {
    // What it needs stays where it is; a future is copied each time it is handed on.
    let invoke = |sender| Box::pin(invoker.invoke(call, sender));
    let results = match events.are_heard() {
        true => watched(events, invoke).await?,
        false => invoke(EventSender::none()).await?,
    };
    Answer::ok(&Response { invocation_results: results.into_iter().map(InvocationResult::from).collect() })
}

/// Works, and passes on meanwhile what is sent; what found no room on its way here is left out as well.
async fn watched<W: Future>(events: &Events, work: impl FnOnce(EventSender) -> W) -> W::Output {
    let (sender, mut statuses) = EventSender::channel();
    let statuses = poll_fn(|context| statuses.poll_recv(context));
    let work = work(sender.clone());
    let outcome = events.pass_on(work, statuses, |status| Event::new("status", &Status::from(status))).await;
    events.leave_out(sender.left_out());
    outcome
}

/// The same answer from the records of the runs, or nothing when one of them has not ended.
pub(crate) fn of_records(runs: Vec<Invocation>) -> Option<Result<Answer, Error>> {
    let results = runs.into_iter().map(InvocationResult::of_record).collect::<Option<_>>()?;
    Some(Answer::ok(&Response { invocation_results: results }))
}

impl InvocationResult {
    fn of_record(run: Invocation) -> Option<Self> {
        let Finished { outcome, duration_ms, persisted, .. } = run.finished?;
        let outcome = match outcome {
            registry::InvocationOutcome::Succeeded { output } => {
                InvocationOutcome::Succeeded { succeeded: true, output }
            }
            registry::InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                InvocationOutcome::Failed { succeeded: false, exception_message, exception_type, exception_stack_trace }
            }
        };
        Some(Self { outcome, duration_ms, invocation_id: run.id, persisted })
    }
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

#[cfg(test)]
mod tests {
    use registry::Clock;

    use super::*;
    use crate::work::streamed;

    /// A run that tells more at once than anybody can take from it meanwhile.
    #[tokio::test]
    async fn no_event_is_lost_without_being_counted() {
        let invocation_id = InvocationId::new(&Clock::system());
        let (message, progress) = ("again".to_owned(), None);
        let event = StatusEvent { invocation_id, input_index: 0, message, progress, total: None, data: None };
        let burst = async |sender: EventSender| {
            for _ in 0..300 {
                sender.send(event.clone());
            }
            Answer::ok(&"done")
        };
        let text = streamed(async |events| watched(&events, burst).await).await;
        assert_eq!(text.matches("event: status").count(), 256);
        assert!(text.ends_with("event: done\ndata: {\"events_left_out\":44}\n\n"), "{text}");
    }
}
