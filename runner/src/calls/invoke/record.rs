//! Step 12 of a call: the record of its runs. The start is written before a run begins, the end before the caller gets the
//! result. Some refused calls have a record, too.

use registry::{
    ContentBlock, FinishedRun, Ledger, NewAnswers, NewTape, RawJson, RecordEvent, RefusedRun, RunEnd, RunId, RunStart,
};
use serde_json::Value;

use super::cancellation::Cancellation;
use super::refusal::Refused;
use super::run::Run;
use super::services::Services;
use super::target::Target;
use crate::calls::call::{Call, Input, RunResult};
use crate::calls::input_documents::record_input;
use crate::error::Error;
use crate::sandbox::outcome::Outcome;

/// The parts of a record besides its outcome.
pub(super) struct RecordParts {
    pub status_events: Vec<Value>,
    pub logs: String,
    pub content: Vec<ContentBlock>,
    pub ledger: Ledger,
    pub tape: Option<NewTape>,
    pub answers: Option<NewAnswers>,
}

impl Run<'_> {
    pub async fn record_start(&self, inputs: Vec<Input>) -> Result<Vec<(RunId, Cancellation)>, Error> {
        let start = |input| start(self.services, self.call, Some(self.target), input);
        let runs: Vec<_> = inputs.into_iter().map(start).collect();
        // Registered first, so that a run that is seen as running can be cancelled.
        let register =
            |run: &RunStart| (run.id.clone(), self.services.cancellable.register(&run.id, &run.organization));
        let registered = runs.iter().map(register).collect();
        let started = RecordEvent::Started { operation: self.call.operation.clone(), runs };
        if let Err(error) = self.services.store.history().record(&started).await {
            self.services.retries.close_unstarted(&error, started);
            return Err(error.into());
        }
        self.events.note_started();
        Ok(registered)
    }

    pub async fn record_end(&self, result: &RunResult, outcome: Outcome, parts: RecordParts) -> Result<(), Error> {
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
        let (id, organization) = (result.invocation_id.clone(), self.call.caller.principal.organization.clone());
        self.services.retries.record_end(FinishedRun { id, organization, end, tape, answers }).await
    }
}

impl Refused {
    /// Records the refusal of each input. Returns the ids of the records.
    pub async fn record(
        &self,
        services: &Services,
        mut call: Call,
        target: Option<&Target>,
    ) -> Result<Vec<RunId>, Error> {
        let refused = std::mem::take(&mut call.inputs).into_iter().map(|input| RefusedRun {
            start: start(services, &call, target, input),
            at: self.step,
            code: self.error.code().to_owned(),
            message: self.error.to_string(),
        });
        let refused: Vec<_> = refused.collect();
        let ids = refused.iter().map(|run| run.start.id.clone()).collect();
        services.store.history().record(&RecordEvent::Refused(refused)).await?;
        Ok(ids)
    }
}

fn start(services: &Services, call: &Call, target: Option<&Target>, input: Input) -> RunStart {
    let caller = &call.caller;
    let mode = input.invocation_mode;
    let mut input = record_input(input);
    if let Some(parent) = call.origin.parent() {
        input.input_parameters = RawJson::clone(&parent.recorded_arguments);
    }
    RunStart {
        id: call.run_id.clone().unwrap_or_else(|| RunId::new(&services.clock)),
        organization: caller.principal.organization.clone(),
        tool: target.and_then(Target::tool_id).cloned(),
        tool_version: target.and_then(Target::version),
        native_tool: target.and_then(Target::native_tool),
        source: caller.source.clone(),
        account: caller.principal.account.clone(),
        via: caller.via.clone(),
        api_key_id: caller.principal.key.as_ref().map(|key| key.id.clone()),
        caller_address: caller.principal.address,
        mode,
        input,
        started_at: services.clock.now(),
    }
}
