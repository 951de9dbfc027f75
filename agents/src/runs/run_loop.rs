//! The work on a run: answers of the model and calls of tools by turns, each with a checkpoint.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use registry::{Admitted, SecretValue};

use super::answering::UNANSWERED;
use super::bounds::require_allowed;
use super::control::list_definitions;
use super::observation::ToolObservation;
use super::pending_calls::PendingCalls;
use super::run_checkpoint::RunCheckpoint;
use super::run_options::AgentRunOptions;
use super::run_stage::{OpenQuestion, RunStage};
use super::service::AgentRunService;
use super::system_prompt::build_system_prompt;
use super::tool_step::RunContext;
use super::working::Working;
use crate::domain::agent_runs::{AgentRun, AgentRunState, NewStep};
use crate::domain::library::LibraryFamily;
use crate::error::Error;
use crate::model::{Model, ModelCall, ModelFailure, ModelRequest, ToolDefinition, TranscriptEntry};

/// Calls of one answer that are made. The model is told which ones were not.
const CALLS_MAX: usize = 32;
/// Calls of one answer. Each has a step and a result in the checkpoint, also one that is not made.
const CALLS_ANSWERED_MAX: usize = 256;
/// Bytes of the descriptions and schemas of the tools of a request, as of a turn. No model reads more.
const TOOLS_BYTES_MAX: usize = 8 << 20;
/// The answer to an answer without a call.
const NO_CALL: &str = "No tool was called. Call one of the tools; __complete__ ends the work, if it is among them.";

/// The work on a run of an agent.
pub struct AgentRunLoop {
    pub(super) service: AgentRunService,
    /// `None` for a run of one call.
    model: Option<Arc<Model>>,
    pub(super) run: AgentRun,
    pub(super) checkpoint: RunCheckpoint,
    /// Whether the call that has begun is one of this server.
    pub(super) began_here: bool,
    /// Redacted from the steps.
    pub(super) secrets: Vec<SecretValue>,
    pub(super) working: Working,
    _admitted: Option<Admitted>,
}

impl AgentRunLoop {
    pub(super) fn new(
        service: AgentRunService,
        model: Option<Arc<Model>>,
        run: AgentRun,
        checkpoint: RunCheckpoint,
    ) -> Self {
        let working = service.working.begin(&run);
        Self { service, model, run, checkpoint, began_here: false, secrets: Vec::new(), working, _admitted: None }
    }

    pub(super) fn with_admitted(self, admitted: Option<Admitted>) -> Self {
        Self { _admitted: admitted, ..self }
    }

    /// The run as it was last written.
    #[must_use]
    pub const fn run(&self) -> (&AgentRun, &RunCheckpoint) {
        (&self.run, &self.checkpoint)
    }

    /// Works until the run pauses or ends, or until this server stops or another one has the run. Returns the run as it is then.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then any server takes the run over.
    pub async fn to_its_end(mut self) -> Result<(AgentRun, RunCheckpoint), Error> {
        let error = match AssertUnwindSafe(self.take_steps()).catch_unwind().await {
            Ok(Ok(())) => return self.read_latest().await,
            Ok(Err(error)) => error,
            Err(_) => Error::internal("the work on a run of an agent panicked"),
        };
        tracing::error!(%error, run = %self.run.id, "the work on a run of an agent failed; another attempt follows");
        self.release().await;
        Err(error)
    }

    async fn take_steps(&mut self) -> Result<(), Error> {
        while self.run.state == AgentRunState::Running && !self.working.is_over() && self.take_step().await? {}
        Ok(())
    }

    /// The run as this server wrote it, or as others left it.
    async fn read_latest(self) -> Result<(AgentRun, RunCheckpoint), Error> {
        if self.run.state != AgentRunState::Running {
            return Ok((self.run, self.checkpoint));
        }
        let found = self.service.store.agent_runs().reread_agent_run(&self.run).await?;
        let run = found.ok_or_else(|| Error::internal("a run of an agent is gone"))?;
        let checkpoint = RunCheckpoint::read(&run.document)?;
        Ok((run, checkpoint))
    }

    /// Takes one step. Returns `false` when this server does not work on the run any more.
    async fn take_step(&mut self) -> Result<bool, Error> {
        // A run that waits goes on when its request has expired. First, since the answers that a call has belong to this call only.
        if let Some(open) = self.checkpoint.open_question().cloned() {
            return self.go_on_without(open).await;
        }
        let Some(present) = self.service.present(&self.run, &self.checkpoint).await? else {
            return self.fail("agent_gone", "the agent or the user of the run is gone").await;
        };
        let called = self.checkpoint.pending_calls().map(|calls| &calls.call);
        self.secrets = self.service.collect_step_secrets(&present, called).await?;
        match self.checkpoint.stage.clone() {
            RunStage::AskingModel => self.ask(&present).await,
            RunStage::Calling { calls, has_begun } => self.carry_out(&present, calls, has_begun).await,
            RunStage::WaitingForPerson(_) | RunStage::Completed(_) | RunStage::Failed(_) => {
                Err(Error::internal("a running run of an agent has nothing to do"))
            }
        }
    }

    /// Goes on without the answer to a question.
    async fn go_on_without(&mut self, open: OpenQuestion) -> Result<bool, Error> {
        let step = open.build_step(self.run.iterations, UNANSWERED, false);
        self.checkpoint.end_unanswered(open);
        self.save(vec![step]).await
    }

    /// The instructions of the model, with the rules of the user if the agent has their family.
    async fn write_system_prompt(&self, present: &RunContext) -> Result<String, Error> {
        let system = build_system_prompt(&present.catalogue, &self.checkpoint);
        if !present.catalogue.running.has_family(LibraryFamily::Rules) {
            return Ok(system);
        }
        let rules = self.service.rules.read_enforced(&present.principal, &present.names).await?;
        let has_tool = |name: &str| self.checkpoint.allows_tool(name) && present.catalogue.find(name).is_some();
        let rules = rules.write_prompt(&self.checkpoint.options.objective, has_tool);
        Ok([Some(system).filter(|system| !system.is_empty()), rules]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n\n"))
    }

    /// Asks the model for its next calls.
    async fn ask(&mut self, present: &RunContext) -> Result<bool, Error> {
        let Some(model) = self.model.clone() else { return Err(Error::ModelMissing) };
        if let Some((code, message)) = self.find_exhausted(&model) {
            return self.fail(code, message).await;
        }
        // The settings may be others than at the start of the run.
        if let Err(refused) = require_allowed(&model, self.checkpoint.options.model.as_deref()) {
            return self.fail(refused.code(), refused.to_string()).await;
        }
        let tools = self.list_tools(present);
        let bytes: usize = tools.iter().map(|tool| tool.input_schema.len() + tool.description.len()).sum();
        if bytes > TOOLS_BYTES_MAX {
            let message =
                format!("the tools of a run have at most {TOOLS_BYTES_MAX} bytes with their schemas, not {bytes}");
            return self.fail("tools_too_large", message).await;
        }
        let system = self.write_system_prompt(present).await?;
        let request = ModelRequest {
            model: self.checkpoint.options.model.as_deref(),
            system: &system,
            transcript: &self.checkpoint.transcript,
            tools: &tools,
        };
        let answered = tokio::select! {
            answered = model.ask(&request) => answered,
            () = self.working.wait_until_over() => return Ok(false),
        };
        let mut reply = match answered {
            Ok(reply) => reply,
            Err(error @ ModelFailure::Refused(_)) => return self.fail("model_refused", error.to_string()).await,
            Err(error @ ModelFailure::Unavailable(_)) => {
                return self.fail("model_unavailable", error.to_string()).await;
            }
        };
        self.run.iterations += 1;
        self.checkpoint.tokens = self.checkpoint.tokens.saturating_add(reply.tokens);
        if reply.calls.len() > CALLS_ANSWERED_MAX {
            let calls = reply.calls.len();
            let message = format!("an answer of the model has {calls} calls; {CALLS_ANSWERED_MAX} are the limit");
            return self.fail("too_many_calls", message).await;
        }
        self.name_calls(&mut reply.calls);
        self.checkpoint
            .transcript
            .push(TranscriptEntry::Model { text: reply.text.clone(), calls: reply.calls.clone() });
        let excess = reply.calls.split_off(reply.calls.len().min(CALLS_MAX));
        let mut steps = self.refuse_calls(&excess);
        match PendingCalls::of(reply.calls) {
            Some(calls) => self.begin_calls(calls),
            None => {
                self.checkpoint.push_user_message(NO_CALL.to_owned(), Vec::new());
                steps.push(self.build_step_without_call(reply.text));
            }
        }
        self.save(steps).await
    }

    /// Answers the calls beyond those of one answer, without making them. Returns their steps.
    fn refuse_calls(&mut self, excess: &[ModelCall]) -> Vec<NewStep> {
        let text =
            format!("not made: at most {CALLS_MAX} calls of one answer are made. Call it again in the next answer.");
        let refused = ToolObservation::failure(text);
        let observation = |call: &ModelCall| {
            let (call, text) = (call.id.clone(), refused.text.clone());
            TranscriptEntry::Observation { call, text, is_error: true }
        };
        let steps = excess.iter().map(|call| self.build_step(call, &refused)).collect();
        self.checkpoint.transcript.extend(excess.iter().map(observation));
        steps
    }

    /// Gives calls without an id, and those whose id was there before, one of their own.
    fn name_calls(&self, calls: &mut [ModelCall]) {
        let mut known = HashSet::new();
        for (number, call) in calls.iter_mut().enumerate() {
            if call.id.is_empty() || self.checkpoint.has_call(&call.id) || known.contains(&call.id) {
                call.id = format!("call_{}_{number}", self.run.iterations);
            }
            known.insert(call.id.clone());
        }
    }

    /// Why the model is not asked again.
    fn find_exhausted(&self, model: &Model) -> Option<(&'static str, String)> {
        let AgentRunOptions { iterations_max, tokens_max, .. } = self.checkpoint.options;
        let (tokens, tokens_max) = (self.checkpoint.tokens, tokens_max.min(model.bounds().tokens_max));
        if self.run.iterations >= iterations_max {
            return Some(("max_iterations", format!("the run has no answer after {iterations_max} iterations")));
        }
        (tokens >= tokens_max).then(|| ("max_tokens", format!("the run has no answer after {tokens} tokens")))
    }

    fn list_tools(&self, present: &RunContext) -> Vec<ToolDefinition> {
        let own = present.catalogue.tools.iter().filter(|tool| self.checkpoint.allows_tool(&tool.name));
        let own = own.map(|tool| ToolDefinition {
            name: tool.name.clone(),
            description: tool.description(),
            input_schema: self.service.working.schema_texts.of(tool),
        });
        own.chain(list_definitions(&self.checkpoint)).collect()
    }
}
