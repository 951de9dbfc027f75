//! What each input of a call passes: the first half of its record, the run, the second half.

use std::sync::{Arc, Mutex, PoisonError};

use registry::{
    Finished, Granted, InvocationFinished, InvocationId, InvocationOutcome, InvocationSource, InvocationStarted,
    Ledger, NewAnswers, NewTape, OperationId,
};
use serde_json::{Value, json};

use super::answers::without_secrets;
use super::tape::Frame;
use super::{Invoker, Resolved};
use crate::admission::Admitted;
use crate::documents::{Documents, recorded};
use crate::execution::group_of;
use crate::host::StatusDocument;
use crate::host::variables::{self, Metadata};
use crate::redact::{Redaction, Redactors};
use crate::{
    Conversation, Depth, Error, EventSender, Executed, Execution, Gate, Heard, Input, InvocationMode, Outcome, Pass,
    Ports, RunResult, Simulation, StatusEvent, Taping, metrics, shape,
};

/// What a run said beside its outcome.
struct Traces {
    status_events: Vec<Value>,
    logs: String,
    ledger: Ledger,
    tape: Option<NewTape>,
    answers: Option<NewAnswers>,
}

/// A run that is over, with what becomes of what it said.
struct Ended {
    executed: Executed,
    redactors: Redactors,
    frame: Option<Frame>,
    heard: Vec<Heard>,
}

impl Ended {
    fn without(executed: Executed) -> Self {
        Self { executed, redactors: Redactors::default(), frame: None, heard: Vec::new() }
    }
}

/// One call's runs.
pub(super) struct Run<'a> {
    pub(super) invoker: &'a Invoker,
    pub(super) redaction: Redaction,
    pub(super) resolved: &'a Resolved,
    pub(super) principal: &'a registry::Principal,
    pub(super) conversation: Option<&'a Conversation>,
    pub(super) depth: Depth,
    pub(super) persistence: crate::ResultPersistence,
    pub(super) admitted: &'a Admitted,
    pub(super) events: &'a EventSender,
}

impl Run<'_> {
    pub(super) async fn record_start(
        &self,
        inputs: Vec<Input>,
        source: &InvocationSource,
        operation: Option<OperationId>,
    ) -> Result<Vec<InvocationId>, Error> {
        let clock = &self.invoker.clock;
        let started: Vec<_> = inputs
            .into_iter()
            .map(|input| InvocationStarted {
                id: InvocationId::new(clock),
                organization: self.principal.organization.clone(),
                tool: self.resolved.tool_id.clone(),
                tool_version: self.resolved.tool_id.as_ref().map(|_| self.resolved.version),
                source: source.clone(),
                mode: input.invocation_mode,
                input: recorded(input),
                started_at: clock.now(),
            })
            .collect();
        let ids = started.iter().map(|one| one.id.clone()).collect();
        self.invoker.store.start_invocations_of(operation, started).await?;
        Ok(ids)
    }

    pub(super) async fn one(&self, index: usize, id: InvocationId, documents: Documents) -> Result<RunResult, Error> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let executed = self.execute(index, &id, documents, kept.clone()).await;
        let Ended { executed, redactors, frame, heard } = executed.unwrap_or_else(|error| {
            tracing::error!(invocation = %id, %error, "a run failed on the host's side");
            Ended::without(failed(&error))
        });
        metrics::executed(&executed, self.resolved.language);
        let duration_ms = u64::try_from(executed.duration.as_millis()).unwrap_or(u64::MAX);
        let Executed { outcome, is_called, logs, ledger, taped, .. } = executed;
        let tape = self.invoker.sealed(&self.principal.organization, &id, taped, frame).await;
        let answers = self.answers(heard).await;
        let mut ledger = Ledger { granted: self.granted(), ..ledger };
        if is_called {
            ledger.hand_over();
        }
        let outcome = shape::promised(outcome, self.resolved.loaded.output.as_ref()).await?;
        let (outcome, persisted) = shape::shape(outcome, self.persistence, self.resolved.limits.output_characters);
        metrics::ended(&outcome, self.resolved.language);
        let status_events = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        let stored = redactors.stored.outcome(outcome.clone());
        let logs = redactors.stored.text(logs);
        let result =
            RunResult { invocation_id: id, outcome: redactors.answered.outcome(outcome), duration_ms, persisted };
        self.record_end(&result, stored, Traces { status_events, logs, ledger, tape, answers }).await?;
        Ok(result)
    }

    fn granted(&self) -> Granted {
        let Resolved { limits, variables, outlet, .. } = self.resolved;
        Granted {
            envvars: variables.envvars.keys().map(ToString::to_string).collect(),
            secrets: variables.secrets.keys().map(ToString::to_string).collect(),
            host_secrets: outlet.secret_names(),
            wall_ms: limits.wall_ms,
            cpu_ms: limits.cpu_ms,
            memory_bytes: limits.memory_bytes,
        }
    }

    async fn execute(
        &self,
        index: usize,
        id: &InvocationId,
        documents: Documents,
        kept: Arc<Mutex<Vec<Value>>>,
    ) -> Result<Ended, Error> {
        let _place = self.admitted.place().await.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        let redactors = self.redaction.with(&documents.sensitive);
        let sink = self.sink(index, id.clone(), kept, redactors.clone());
        let gate = self.gate(documents.mode);
        let sensitive = documents.sensitive.clone();
        let ports = Ports { events: sink, http: gate.sender() };
        let execution = self.execution(id, documents)?;
        let frame = self.resolved.is_taped.then(|| self.frame(&execution));
        let mut executed = self.invoker.executor.run(execution, ports).await?;
        let (mut uses, refused) = gate.account();
        if !uses.is_empty() {
            // A host is what the tool says it is.
            let hosts = self.redaction.of_hosts(&sensitive);
            uses.iter_mut().for_each(|one| one.host = hosts.text(std::mem::take(&mut one.host)));
        }
        executed.ledger.used.http = uses;
        executed.ledger.refused.http_requests = refused;
        Ok(Ended { executed, redactors, frame, heard: gate.heard() })
    }

    /// What the run's requests were answered, for simulations.
    async fn answers(&self, heard: Vec<Heard>) -> Option<NewAnswers> {
        let tool = self.resolved.answers_of.as_ref().filter(|_| !heard.is_empty())?;
        let heard = without_secrets(heard, &self.redaction.with(&[]).stored);
        if heard.is_empty() {
            return None;
        }
        self.invoker.sealed_answers(&self.principal.organization, tool, heard).await
    }

    fn frame(&self, execution: &Execution) -> Frame {
        let Resolved { limits, component, outlet, .. } = self.resolved;
        let host_secrets = outlet.secret_values().map(|secret| secret.expose().to_owned()).collect();
        let (limits, component) = (*limits, *component);
        Frame { given: execution.into(), limits, persistence: self.persistence, component, host_secrets }
    }

    fn gate(&self, mode: InvocationMode) -> Gate {
        let Resolved { loaded, limits, outlet, answers_of, is_taped, .. } = self.resolved;
        let recall = || answers_of.as_ref().map(|tool| self.invoker.recall(&self.principal.organization, tool));
        let simulation = match mode {
            InvocationMode::Regular => None,
            InvocationMode::ConversationSimulation => {
                Some(Simulation { standins: loaded.mocks.clone(), recall: recall(), is_sealed: false })
            }
        };
        self.invoker.egress.gate(Pass {
            organization: self.principal.organization.clone(),
            declared: outlet.declared.clone(),
            secrets: outlet.secrets.clone(),
            limits: *limits,
            depth: self.depth,
            is_heard: simulation.is_none() && answers_of.is_some() && *is_taped,
            simulation,
        })
    }

    fn execution(&self, id: &InvocationId, documents: Documents) -> Result<Box<Execution>, Error> {
        let Documents { mode, tool_input, user_variables, .. } = documents;
        let Resolved { tool_id, tool_name, version, loaded, limits, variables, .. } = self.resolved;
        let wall_ms = i64::try_from(limits.wall_ms).unwrap_or(i64::MAX);
        let metadata = Metadata {
            organization: &self.principal.organization,
            invocation_mode: mode.as_str(),
            invocation_id: id,
            tool_id: tool_id.as_ref().map_or("", |id| id.as_str()),
            tool_name,
            version: version.to_string(),
            deadline_ms: self.invoker.clock.now().as_milliseconds().saturating_add(wall_ms),
        };
        Ok(Box::new(Execution {
            code: loaded.code.clone()?,
            tool_input,
            metadata: variables::metadata(&metadata),
            config: variables::config(variables),
            conversation: variables::conversation(self.conversation),
            user_variables,
            limits: *limits,
            group: group_of(&self.principal.organization),
            taping: if self.resolved.is_taped { Taping::On } else { Taping::Off },
        }))
    }

    fn sink(
        &self,
        input_index: usize,
        id: InvocationId,
        kept: Arc<Mutex<Vec<Value>>>,
        redactors: Redactors,
    ) -> crate::EventSink {
        let events = self.events.clone();
        Box::new(move |document: StatusDocument| {
            let StatusDocument { message, progress, total, data } = redactors.stored.document(document.clone());
            let record = json!({"message": message, "progress": progress, "total": total, "data": data});
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            let StatusDocument { message, progress, total, data } = redactors.answered.document(document);
            events.send(StatusEvent { invocation_id: id.clone(), input_index, message, progress, total, data });
        })
    }

    async fn record_end(&self, result: &RunResult, outcome: Outcome, traces: Traces) -> Result<(), Error> {
        let Traces { status_events, logs, ledger, tape, answers } = traces;
        let finished = Finished {
            at: self.invoker.clock.now(),
            duration_ms: result.duration_ms,
            outcome: stored(outcome),
            persisted: result.persisted,
            status_events,
            logs,
            ledger: Some(ledger),
        };
        let (id, organization) = (result.invocation_id.clone(), self.principal.organization.clone());
        self.invoker.record_end(InvocationFinished { id, organization, finished, tape, answers }).await
    }
}

/// What a run's caller is told of the host's side.
fn failed(error: &Error) -> Executed {
    match error {
        Error::Damaged(damage) => Executed::failed(error.code(), &damage.to_string()),
        _ => Executed::failed("internal", "the run failed on the host's side"),
    }
}

pub(super) fn stored(outcome: Outcome) -> InvocationOutcome {
    match outcome {
        Outcome::Succeeded { output } => InvocationOutcome::Succeeded { output },
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace }
        }
    }
}
