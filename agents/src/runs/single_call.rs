//! Runs of one call: a client does not wait for the call, and asks for its result later.

use std::sync::Arc;

use registry::{
    AgentRunId, CallerNames, Digest, HumanRequestId, OrganizationId, Principal, RawJson, Record, RunId, do_heavy_work,
};
use runner::{Depth, Interaction, NESTING_LEVELS_MAX, SchemaViolation, nests_within};
use serde_json::{Map, Value};

use super::answering::FilledIn;
use super::carry_out::INTERRUPTED;
use super::observation::ToolObservation;
use super::pending_calls::CallDialogue;
use super::run_checkpoint::{RunCheckpoint, SingleCall};
use super::run_loop::AgentRunLoop;
use super::service::AgentRunService;
use crate::domain::agent_runs::{AgentRun, AgentRunKind, NewAgentRun, RunObjective, StartedAgentRun};
use crate::domain::agents::RunningAgent;
use crate::error::Error;

/// The code of the failure of a call that asked what nobody can answer.
pub const INPUT_UNAVAILABLE: &str = "input_unavailable";

/// Attempts to add results, when other answers come at the same time.
const FILL_IN_ATTEMPTS_MAX: u32 = 5;

/// A call that a client does not wait for.
pub struct NewSingleCall {
    pub call: SingleCall,
    /// An object.
    pub input: RawJson,
    pub names: CallerNames,
    /// The number of tool runs that led to the call.
    pub depth: Depth,
    /// Answers to questions that were asked before the run began.
    pub interaction: Interaction,
    /// The code that asked them; `None` for a tool of the server.
    pub component: Option<Digest>,
}

impl AgentRunService {
    /// Starts the run of one call of a tool of an agent.
    ///
    /// # Errors
    /// When too many runs go on, or the store cannot be written.
    pub async fn start_single_call(
        &self,
        principal: &Principal,
        running: &Arc<RunningAgent>,
        NewSingleCall { call, input, names, depth, interaction, component }: NewSingleCall,
    ) -> Result<AgentRunLoop, Error> {
        let bytes = input.bytes();
        let own = input.clone();
        let nests_little = do_heavy_work(bytes, move || {
            own.members().is_ok_and(|members| members.values().all(|value| nests_within(value, NESTING_LEVELS_MAX - 1)))
        });
        if !nests_little.await.map_err(|error| Error::internal(error.to_string()))? {
            let message = format!("nests more than {NESTING_LEVELS_MAX} levels");
            let violation = SchemaViolation { input_index: 0, pointer: String::new(), message };
            return Err(runner::Error::InvalidInput { violations: vec![violation] }.into());
        }
        let admitted = self.working.admission.admit(&principal.organization, 1)?;
        let dialogue = CallDialogue::of(interaction, component);
        let checkpoint = RunCheckpoint::of_call(call, input, names, depth, dialogue);
        let (agent, kind, document) = (running.agent.id.clone(), AgentRunKind::Call, checkpoint.written()?);
        let objective = RunObjective::of(&checkpoint.options.objective);
        let new = NewAgentRun { agent, kind, objective, document, once: None };
        match self.store.agent_runs().start_agent_run(principal, new).await? {
            StartedAgentRun::New(run) => {
                Ok(AgentRunLoop::new(self.clone(), None, run, checkpoint).with_admitted(Some(admitted)))
            }
            _ => Err(Error::internal("a call without a key was repeated")),
        }
    }

    /// Adds results of a client for forms of a paused run, which goes on once all have one. `None` while some are open.
    ///
    /// # Errors
    /// When the request is not open any more, or a result does not fit its form.
    pub async fn fill_in(
        &self,
        principal: &Principal,
        request: &HumanRequestId,
        results: &Map<String, Value>,
    ) -> Result<Option<AgentRunLoop>, Error> {
        for _ in 0..FILL_IN_ATTEMPTS_MAX {
            let (found, mut checkpoint) =
                self.open_request(principal, request).await?.ok_or(Error::HumanRequestClosed)?;
            match checkpoint.fill_in(results)? {
                FilledIn::All { answered, response } => {
                    if let Some(work) = self.go_on(principal, found, checkpoint, &answered, &response).await? {
                        return Ok(Some(work));
                    }
                }
                FilledIn::Some(left) => {
                    let (document, left) = (checkpoint.written()?, left.encode()?);
                    if self.store.agent_runs().amend_agent_run(&found, document, left).await?.is_some() {
                        return Ok(None);
                    }
                }
            }
            // Another answer has changed the run meanwhile.
        }
        Err(Error::HumanRequestClosed)
    }

    /// Reads the record of a call.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn record(&self, organization: &OrganizationId, invocation: &RunId) -> Result<Option<Record>, Error> {
        Ok(self.store.registry().history().get_invocation(organization, invocation).await?)
    }

    /// Finds a run of the user of an agent.
    ///
    /// # Errors
    /// When the store cannot be read, or the checkpoint is damaged.
    pub async fn find_own(
        &self,
        principal: &Principal,
        running: &RunningAgent,
        run: &AgentRunId,
    ) -> Result<Option<(AgentRun, RunCheckpoint)>, Error> {
        let found = self.find(principal, run).await?;
        Ok(found.filter(|(run, _)| run.account == principal.account && run.agent == running.agent.id))
    }
}

impl RunCheckpoint {
    /// Notes the end of the only call. The run has failed when there is no result that a record has.
    pub(super) fn end_of_call(&mut self, observed: ToolObservation) {
        let ToolObservation { text, invocation, lacks, .. } = observed;
        match invocation {
            Some(invocation) if lacks.is_empty() => self.complete_call(invocation),
            _ => {
                let code = match lacks.is_empty() {
                    false => INPUT_UNAVAILABLE,
                    true if text == INTERRUPTED => "interrupted",
                    true => "not_called",
                };
                self.clear();
                self.fail(code, text);
            }
        }
    }
}
