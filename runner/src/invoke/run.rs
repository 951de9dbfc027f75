//! The steps of each input of a call: start of its record, execution, end of its record.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{
    ContentBlock, FinishedRun, Granted, InvocationId, InvocationMode, InvocationSource, Ledger, NewAnswers, NewTape,
    OperationId, Principal, RecordEvent, RunEnd, RunStart, UserId,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::cancellation::Cancellation;
use super::recorded_responses::{ResponseStore, without_secrets};
use super::resolve::Resolved;
use super::services::Services;
use super::tape::{TapeFrame, TapeStore};
use crate::admission::Admitted;
use crate::call::{Conversation, EventSender, Input, LogEvent, ResultPersistence, RunEvent, RunResult, StatusEvent};
use crate::depth::Depth;
use crate::egress::{EgressRules, EgressSession, RecordedResponse, Simulation};
use crate::error::Error;
use crate::executed::Executed;
use crate::execution::{Execution, RunDocuments, group_of};
use crate::input_documents::{InputDocuments, recorded};
use crate::outcome::Outcome;
use crate::ports::{EventDocument, EventSink, LogDocument, Ports, StatusDocument};
use crate::redact::{RedactedEnd, Redaction, Redactors};
use crate::run_documents::{self, Metadata};
use crate::tape::TapeMode;
use crate::{metrics, output};

/// The runs of one call.
pub(super) struct Run<'a> {
    pub services: &'a Services,
    pub redaction: Redaction,
    pub resolved: &'a Resolved,
    pub principal: &'a Principal,
    pub conversation: Option<&'a Conversation>,
    pub depth: Depth,
    pub persistence: ResultPersistence,
    pub admitted: &'a Admitted,
    pub events: &'a EventSender,
}

/// One input whose record has started.
pub(super) struct PendingRun {
    pub index: usize,
    pub id: InvocationId,
    pub documents: InputDocuments,
    pub cancellation: Cancellation,
}

/// A run that has ended, with everything that its record needs.
struct ExecutedRun {
    executed: Executed,
    redactors: Redactors,
    frame: Option<TapeFrame>,
    responses: Vec<RecordedResponse>,
}

/// The parts of a record besides its outcome.
struct RecordParts {
    status_events: Vec<Value>,
    logs: String,
    content: Vec<ContentBlock>,
    ledger: Ledger,
    tape: Option<NewTape>,
    answers: Option<NewAnswers>,
}

/// Redacts the events of one run, keeps its status events for the record and sends all events to the listener.
struct EventRelay {
    index: usize,
    id: InvocationId,
    redactors: Redactors,
    kept: Arc<Mutex<Vec<Value>>>,
    listener: EventSender,
}

impl ExecutedRun {
    fn without_execution(executed: Executed) -> Self {
        Self { executed, redactors: Redactors::default(), frame: None, responses: Vec::new() }
    }
}

impl Run<'_> {
    pub async fn record_start(
        &self,
        inputs: Vec<Input>,
        source: &InvocationSource,
        operation: Option<OperationId>,
    ) -> Result<Vec<(InvocationId, Cancellation)>, Error> {
        let clock = &self.services.clock;
        let runs: Vec<_> = inputs
            .into_iter()
            .map(|input| RunStart {
                id: InvocationId::new(clock),
                organization: self.principal.organization.clone(),
                tool: self.resolved.tool_id.clone(),
                tool_version: self.resolved.tool_id.as_ref().map(|_| self.resolved.version),
                source: source.clone(),
                api_key_id: self.principal.key.as_ref().map(|key| key.id.clone()),
                caller_address: self.principal.address,
                mode: input.invocation_mode,
                input: recorded(input),
                started_at: clock.now(),
                agent_call: None,
                native_tool: None,
            })
            .collect();
        // Registered first, so that a run that is seen as running can be cancelled.
        let register =
            |run: &RunStart| (run.id.clone(), self.services.cancellable.register(&run.id, &run.organization));
        let registered = runs.iter().map(register).collect();
        let started = RecordEvent::Started { operation, runs };
        if let Err(error) = self.services.store.record(&started).await {
            self.services.retries.close_unstarted(&error, started);
            return Err(error.into());
        }
        Ok(registered)
    }

    pub async fn execute_and_record(&self, pending: PendingRun) -> Result<RunResult, Error> {
        let (id, organization) = (pending.id.clone(), &self.principal.organization);
        let status_events = Arc::<Mutex<Vec<Value>>>::default();
        let finished = self.execute(pending, status_events.clone()).await.unwrap_or_else(|error| {
            tracing::error!(invocation = %id, %error, "a run failed because of a fault of the host");
            ExecutedRun::without_execution(host_fault(&error))
        });
        let ExecutedRun { executed, redactors, frame, responses } = finished;
        metrics::executed(&executed, self.resolved.language);
        let duration_ms = u64::try_from(executed.duration.as_millis()).unwrap_or(u64::MAX);
        let Executed { outcome, is_called, logs, content, ledger, tape, .. } = executed;
        let tape = match frame {
            Some(frame) => {
                let recordings = &self.services.recordings;
                TapeStore { recordings, organization, run: &id }.seal(tape, frame).await
            }
            None => None,
        };
        let answers = self.seal_responses(responses).await;
        let mut ledger = Ledger { granted: self.granted(), ..ledger };
        if is_called {
            ledger.hand_over();
        }
        let outcome = self.resolved.output_check(&self.services.schemas, organization).apply(outcome).await;
        let (outcome, persisted) =
            output::apply_limits(outcome, self.persistence, self.resolved.limits.output_characters);
        metrics::ended(&outcome, self.resolved.language);
        let status_events = std::mem::take(&mut *status_events.lock());
        let redacted = redactors.redact_end(outcome, logs, content).await?;
        let RedactedEnd { stored, answered, logs, stored_content, answered_content } = redacted;
        let result =
            RunResult { invocation_id: id, outcome: answered, duration_ms, persisted, content: answered_content };
        let parts = RecordParts { status_events, logs, content: stored_content, ledger, tape, answers };
        self.record_end(&result, stored, parts).await?;
        Ok(result)
    }

    fn granted(&self) -> Granted {
        let Resolved { limits, variables, egress_policy, .. } = self.resolved;
        Granted {
            envvars: variables.envvars.keys().map(ToString::to_string).collect(),
            secrets: variables.secrets.keys().map(ToString::to_string).collect(),
            host_secrets: egress_policy.secret_names(),
            wall_ms: limits.wall_ms,
            cpu_ms: limits.cpu_ms,
            memory_bytes: limits.memory_bytes,
        }
    }

    async fn execute(&self, pending: PendingRun, kept: Arc<Mutex<Vec<Value>>>) -> Result<ExecutedRun, Error> {
        let PendingRun { index, id, documents, mut cancellation } = pending;
        let permit = tokio::select! {
            permit = self.admitted.permit() => permit,
            by = cancellation.requested() => return Ok(ExecutedRun::without_execution(cancelled(&by, Duration::ZERO))),
        };
        let _permit = permit.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        let sensitive = documents.sensitive.clone();
        let redactors = self.redaction.with(&sensitive);
        let listener = self.events.clone();
        let relay = EventRelay { index, id: id.clone(), redactors: redactors.clone(), kept, listener };
        let session = self.egress_session(documents.mode);
        let ports = Ports { events: relay.sink(), http: session.sender() };
        let execution = self.execution(&id, documents)?;
        let frame = self.resolved.is_recorded.then(|| self.tape_frame(&execution));
        let began = Instant::now();
        let mut executed = tokio::select! {
            executed = self.services.executor.run(execution, ports) => executed?,
            by = cancellation.requested() => cancelled(&by, began.elapsed()),
        };
        let (mut requests, refused) = session.ledger();
        if !requests.is_empty() {
            // The tool chooses the host names, so they may contain secrets.
            let hosts = self.redaction.of_hosts(&sensitive);
            requests.iter_mut().for_each(|one| one.host = hosts.text(std::mem::take(&mut one.host)));
        }
        executed.ledger.used.http = requests;
        executed.ledger.refused.http_requests = refused;
        Ok(ExecutedRun { executed, redactors, frame, responses: session.take_recorded_responses() })
    }

    /// Encrypts the responses of the run for later simulations.
    async fn seal_responses(&self, responses: Vec<RecordedResponse>) -> Option<NewAnswers> {
        let store = self.responses().filter(|_| !responses.is_empty())?;
        let responses = without_secrets(responses, &self.redaction.with(&[]).stored);
        if responses.is_empty() { None } else { store.seal(responses).await }
    }

    /// The recorded responses of the tool, when the tool allows them.
    fn responses(&self) -> Option<ResponseStore> {
        let (store, organization) = (self.services.store.clone(), self.principal.organization.clone());
        self.resolved.responses_of.clone().map(|tool| ResponseStore { store, organization, tool })
    }

    fn tape_frame(&self, execution: &Execution) -> TapeFrame {
        let Resolved { limits, component, egress_policy, .. } = self.resolved;
        TapeFrame {
            documents: execution.documents.clone(),
            limits: *limits,
            persistence: self.persistence,
            component: *component,
            host_secrets: egress_policy.secret_values().map(|secret| secret.expose().to_owned()).collect(),
        }
    }

    fn egress_session(&self, mode: InvocationMode) -> EgressSession {
        let Resolved { loaded, limits, egress_policy, responses_of, is_recorded, .. } = self.resolved;
        let simulation = match mode {
            InvocationMode::Regular => None,
            InvocationMode::ConversationSimulation => {
                let lookup = self.responses().map(ResponseStore::lookup);
                Some(Simulation { mocks: loaded.mocks.clone(), lookup, is_sealed: false })
            }
        };
        self.services.egress.session(EgressRules {
            organization: self.principal.organization.clone(),
            policy: egress_policy.clone(),
            limits: *limits,
            depth: self.depth,
            records_responses: simulation.is_none() && responses_of.is_some() && *is_recorded,
            simulation,
        })
    }

    fn execution(&self, id: &InvocationId, documents: InputDocuments) -> Result<Box<Execution>, Error> {
        let InputDocuments { mode, tool_input, user_variables, .. } = documents;
        let Resolved { tool_id, tool_name, version, loaded, limits, variables, .. } = self.resolved;
        let wall_ms = i64::try_from(limits.wall_ms).unwrap_or(i64::MAX);
        let metadata = Metadata {
            organization: &self.principal.organization,
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
                metadata: run_documents::json(&metadata),
                config: run_documents::config(variables),
                conversation: run_documents::json(&self.conversation),
                user_variables,
            },
            limits: *limits,
            group: group_of(&self.principal.organization),
            tape_mode: if self.resolved.is_recorded { TapeMode::Record } else { TapeMode::Off },
        }))
    }

    async fn record_end(&self, result: &RunResult, outcome: Outcome, parts: RecordParts) -> Result<(), Error> {
        let RecordParts { status_events, logs, content, ledger, tape, answers } = parts;
        let end = RunEnd {
            at: self.services.clock.now(),
            duration_ms: result.duration_ms,
            outcome,
            persisted: result.persisted,
            status_events,
            logs,
            content,
            ledger: Some(ledger),
            refused_at: None,
        };
        let (id, organization) = (result.invocation_id.clone(), self.principal.organization.clone());
        self.services.retries.record_end(FinishedRun { id, organization, end, tape, answers }).await
    }
}

impl EventRelay {
    fn sink(self) -> EventSink {
        Box::new(move |document| match document {
            EventDocument::Status(document) => self.status(document),
            EventDocument::Log(document) => self.log(document),
        })
    }

    fn status(&self, document: StatusDocument) {
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
fn cancelled(by: &UserId, duration: Duration) -> Executed {
    Executed { duration, ..Executed::failed("cancelled", &format!("cancelled by {by}")) }
}

/// The result of a run that failed because of a fault of the host. The caller learns the cause only for damaged code.
fn host_fault(error: &Error) -> Executed {
    match error {
        Error::Damaged(damage) => Executed::failed(error.code(), &damage.to_string()),
        _ => Executed::failed("internal", "the run failed because of a fault of the server"),
    }
}
