//! Step 9 of a call: the execution of one input, in the sandbox or by the server itself.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;
use registry::{NewAnswers, RunId, UserId};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

use super::cancellation::Cancellation;
use super::nested::{CallingRun, NestedCalls, PARALLEL_MAX, UsedCalls};
use super::recorded_responses::{ResponseStore, without_secrets};
use super::resolved::Resolved;
use super::run::{PendingRun, Run};
use super::tape::TapeFrame;
use super::target::Target;
use crate::calls::call::{EventSender, LogEvent, RunEvent, StatusEvent};
use crate::calls::input_documents::InputDocuments;
use crate::calls::native::{NativeCall, NativeTool};
use crate::calls::redact::Redactors;
use crate::calls::run_documents::{self, Metadata};
use crate::error::Error;
use crate::sandbox::egress::RecordedResponse;
use crate::sandbox::executed::Executed;
use crate::sandbox::execution::{Execution, RunDocuments, compute_group};
use crate::sandbox::outcome::build_wall_timeout;
use crate::sandbox::ports::{EventDocument, EventSink, LogDocument, Ports, StatusDocument};
use crate::sandbox::tape::TapeMode;

/// Time of a native tool. It works on the database, whose statements have timeouts of their own.
const NATIVE_WALL: Duration = Duration::from_secs(30);

/// A run that has ended, with everything that its record needs.
pub(super) struct ExecutedRun {
    pub executed: Executed,
    pub redactors: Redactors,
    pub frame: Option<TapeFrame>,
    pub responses: Vec<RecordedResponse>,
}

/// Redacts the events of one run, keeps its status events for the record and sends all events to the listener.
struct EventRelay {
    index: usize,
    id: RunId,
    redactors: Redactors,
    kept: Arc<Mutex<Vec<Value>>>,
    listener: EventSender,
}

impl ExecutedRun {
    pub fn without_execution(executed: Executed) -> Self {
        Self { executed, redactors: Redactors::default(), frame: None, responses: Vec::new() }
    }
}

impl Run<'_> {
    /// Runs one input when it has a permit, until its end or its cancellation.
    pub async fn execute(&self, mut pending: PendingRun, kept: Arc<Mutex<Vec<Value>>>) -> Result<ExecutedRun, Error> {
        let permit = tokio::select! {
            permit = self.admitted.permit() => permit,
            by = self.cancel_requested(&mut pending.cancellation) => {
                return Ok(ExecutedRun::without_execution(end_cancelled(&by, Duration::ZERO)));
            }
        };
        let _permit = permit.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        match self.target {
            Target::Component(resolved) => self.execute_component(resolved, pending, kept).await,
            Target::Native(tool) => self.execute_native(tool, pending).await,
        }
    }

    /// Waits until a user cancels the run, or its client goes away.
    async fn cancel_requested(&self, cancellation: &mut Cancellation) -> UserId {
        tokio::select! {
            by = cancellation.requested() => by,
            () = self.call.cancelled.cancelled() => self.call.caller.principal.user(),
        }
    }

    async fn execute_native(&self, tool: &NativeTool, pending: PendingRun) -> Result<ExecutedRun, Error> {
        let PendingRun { id, documents, mut cancellation, .. } = pending;
        let arguments = serde_json::from_str(&documents.tool_input)
            .map_err(|error| Error::internal(format!("an input cannot be read back: {error}")))?;
        let (caller, base_url) = (self.call.caller.clone(), self.services.base_url.clone());
        let call = NativeCall { run: id, caller, base_url, arguments };
        let began = Instant::now();
        // A call that panics has an end, too: its record would stay open.
        let running = AssertUnwindSafe(tool.call(call)).catch_unwind();
        let executed = tokio::select! {
            ended = timeout(NATIVE_WALL, running) => match ended {
                Ok(outcome) => Executed::ended(outcome.map_err(|_| Error::internal(format!("{} panicked", tool.name)))?),
                Err(_) => Executed::ended(build_wall_timeout(NATIVE_WALL)),
            },
            by = self.cancel_requested(&mut cancellation) => end_cancelled(&by, Duration::ZERO),
        };
        Ok(ExecutedRun::without_execution(Executed { duration: began.elapsed(), ..executed }))
    }

    async fn execute_component(
        &self,
        resolved: &Resolved,
        pending: PendingRun,
        kept: Arc<Mutex<Vec<Value>>>,
    ) -> Result<ExecutedRun, Error> {
        let PendingRun { index, id, documents, mut cancellation } = pending;
        let sensitive = documents.sensitive.clone();
        let redactors = self.redaction.with(&sensitive);
        let listener = self.events.clone();
        let relay = EventRelay { index, id: id.clone(), redactors: redactors.clone(), kept, listener };
        let session = self.open_egress_session(resolved, documents.mode);
        let nested = self.build_nested_calls(resolved, &documents, &redactors);
        let http = match &nested {
            Some(nested) => nested.with(session.build_sender()),
            None => session.build_sender(),
        };
        let ports = Ports { events: relay.into_sink(), http };
        let execution = self.build_execution(resolved, &id, documents)?;
        let frame = resolved.is_recorded.then(|| self.build_tape_frame(resolved, &execution));
        let began = Instant::now();
        let mut executed = tokio::select! {
            executed = self.services.executor.run(execution, ports) => executed?,
            by = self.cancel_requested(&mut cancellation) => end_cancelled(&by, began.elapsed()),
        };
        let (mut requests, refused) = session.build_ledger();
        if !requests.is_empty() {
            // The tool chooses the host names, so they may contain secrets.
            let hosts = self.redaction.of_hosts(&sensitive);
            requests.iter_mut().for_each(|one| one.host = hosts.text(std::mem::take(&mut one.host)));
        }
        executed.ledger.used.http = requests;
        if let Some(nested) = nested {
            let UsedCalls { entries, refused } = nested.close_ledger().await;
            executed.ledger.used.calls = entries;
            executed.ledger.refused.calls = refused;
        }
        executed.ledger.refused.http_requests = refused;
        Ok(ExecutedRun { executed, redactors, frame, responses: session.take_recorded_responses() })
    }

    /// The calls of other tools that the run may make, when the version declares any.
    fn build_nested_calls(
        &self,
        resolved: &Resolved,
        documents: &InputDocuments,
        redactors: &Redactors,
    ) -> Option<NestedCalls> {
        let take = self.calls?.clone();
        Some(NestedCalls::new(CallingRun {
            take,
            store: self.services.store.clone(),
            declared: resolved.calls.clone(),
            caller: self.call.caller.for_nested_call(),
            cancelled: self.call.cancelled.clone(),
            mode: documents.mode,
            user_variables: documents.user_variables.clone(),
            depth: self.call.depth.of_calls(),
            tree: self.tree.clone(),
            redactor: redactors.stored.clone(),
            secrets: self.redaction.secrets().chain(&documents.sensitive).cloned().collect(),
            parallel: Semaphore::new(PARALLEL_MAX),
            used: Mutex::default(),
            running: TaskTracker::new(),
        }))
    }

    /// Encrypts the responses of the run for later simulations.
    pub async fn seal_responses(&self, responses: Vec<RecordedResponse>) -> Option<NewAnswers> {
        let store = self.find_response_store().filter(|_| !responses.is_empty())?;
        let responses = without_secrets(responses, &self.redaction.with(&[]).stored);
        if responses.is_empty() { None } else { store.seal(responses).await }
    }

    /// The recorded responses of the tool, when the tool allows them.
    pub fn find_response_store(&self) -> Option<ResponseStore> {
        let (store, organization) = (self.services.store.clone(), self.call.caller.principal.organization.clone());
        self.target.responses_of().cloned().map(|tool| ResponseStore { store, organization, tool })
    }

    fn build_tape_frame(&self, resolved: &Resolved, execution: &Execution) -> TapeFrame {
        let Resolved { limits, component, egress_policy, .. } = resolved;
        TapeFrame {
            documents: execution.documents.clone(),
            limits: *limits,
            persistence: self.call.result_persistence,
            component: *component,
            host_secrets: egress_policy.secret_values().map(|secret| secret.expose().to_owned()).collect(),
        }
    }

    fn build_execution(
        &self,
        resolved: &Resolved,
        id: &RunId,
        documents: InputDocuments,
    ) -> Result<Box<Execution>, Error> {
        let InputDocuments { mode, tool_input, user_variables, .. } = documents;
        let Resolved { tool_id, tool_name, version, loaded, limits, variables, .. } = resolved;
        let wall_ms = i64::try_from(limits.wall_ms).unwrap_or(i64::MAX);
        let metadata = Metadata {
            organization: &self.call.caller.principal.organization,
            invocation_mode: mode.as_str(),
            invocation_id: id,
            tool_id: tool_id.as_ref().map_or("", |id| id.as_str()),
            tool_name,
            version: version.to_string(),
            deadline_ms: self.services.clock.now().as_milliseconds().saturating_add(wall_ms),
        };
        Ok(Box::new(Execution {
            code: loaded.code.clone()?,
            documents: RunDocuments {
                tool_input,
                metadata: run_documents::write_json(&metadata),
                config: run_documents::write_config(variables),
                conversation: run_documents::write_json(&self.call.caller.conversation),
                user_variables,
            },
            limits: *limits,
            group: compute_group(&self.call.caller.principal.organization),
            tape_mode: if resolved.is_recorded { TapeMode::Record } else { TapeMode::Off },
            interaction: self.call.interaction.clone(),
        }))
    }
}

impl EventRelay {
    fn into_sink(self) -> EventSink {
        Box::new(move |document| match document {
            EventDocument::Status(document) => self.relay_status(document),
            EventDocument::Log(document) => self.log(document),
        })
    }

    fn relay_status(&self, document: StatusDocument) {
        let StatusDocument { message, progress, total, data } = self.redactors.stored.document(document.clone());
        let record = json!({"message": message, "progress": progress, "total": total, "data": data});
        self.kept.lock().push(record);
        let StatusDocument { message, progress, total, data } = self.redactors.answered.document(document);
        let (invocation_id, input_index) = (self.id.clone(), self.index);
        let event = StatusEvent { invocation_id, input_index, message, progress, total, data };
        self.listener.send(RunEvent::Status(event));
    }

    /// Log messages are part of the printed text, so that the record needs no second copy.
    fn log(&self, document: LogDocument) {
        let LogDocument { level, logger, data } = self.redactors.answered.log_document(document);
        let (invocation_id, input_index) = (self.id.clone(), self.index);
        self.listener.send(RunEvent::Log(LogEvent { invocation_id, input_index, level, logger, data }));
    }
}

/// The result of a run that a user cancelled.
fn end_cancelled(by: &UserId, duration: Duration) -> Executed {
    Executed { duration, ..Executed::failed("cancelled", &format!("cancelled by {by}")) }
}

/// The result of a run that failed because of a fault of the host. The caller learns the cause only for damaged code.
pub(super) fn build_host_fault(error: &Error) -> Executed {
    match error {
        Error::Damaged(damage) => Executed::failed(error.code(), &damage.to_string()),
        _ => Executed::failed("internal", "the run failed because of a fault of the server"),
    }
}
