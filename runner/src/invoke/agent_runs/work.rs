//! The work on a run: answers of the model and calls of tools by turns, each with a checkpoint.

use std::sync::Arc;

use registry::{AgentRun, AgentRunState, Checkpoint, NewStep};
use serde_json::json;

use super::control::{Applied, apply, definitions, is_control_tool};
use super::progress::{HumanQuestion, Progress};
use super::stuck::StuckAction;
use super::tool_step::{Observed, Present};
use crate::admission::Admitted;
use crate::error::Error;
use crate::invoke::invoker::Invoker;
use crate::invoke::working_agent_runs::Working;
use crate::model::{Entry, Model, ModelCall, ModelFailure, ModelRequest, ToolDefinition};
use crate::text::cut;

/// Bytes of a checkpoint. A longer transcript ends the run, since every step writes it again.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Bytes of an observation in the list of steps.
const STEP_OBSERVATION_BYTES_MAX: usize = 2_000;
/// The answer to an answer without a call.
const NO_CALL: &str = "No tool was called. Call one of the tools; __complete__ ends the work, if it is among them.";
/// What is known of a call whose server ended meanwhile.
const INTERRUPTED: &str =
    "interrupted: the server stopped during this call. It may have had effects; look before you call it again.";
/// The hint for a run that is stuck, unless its options have one.
const HINT: &str = "The same call had the same result several times. Try something else.";

/// The work on a run of an agent.
pub struct Work {
    invoker: Invoker,
    model: Arc<Model>,
    run: AgentRun,
    progress: Progress,
    /// Whether the call that has begun is one of this server.
    began_here: bool,
    working: Working,
    _admitted: Option<Admitted>,
}

/// What the model did in a step, for the list of steps.
struct Done<'a> {
    call: &'a ModelCall,
    observed: &'a Observed,
    milestone: Option<String>,
}

impl Work {
    pub(super) fn new(invoker: Invoker, model: Arc<Model>, (run, progress): (AgentRun, Progress)) -> Self {
        let working = invoker.agent_runs.begin(&run.id);
        Self { invoker, model, run, progress, began_here: false, working, _admitted: None }
    }

    pub(super) fn admitted(self, admitted: Admitted) -> Self {
        Self { _admitted: Some(admitted), ..self }
    }

    /// The run as it was last written.
    #[must_use]
    pub const fn run(&self) -> (&AgentRun, &Progress) {
        (&self.run, &self.progress)
    }

    /// Works until the run pauses or ends, or until this server stops. Returns the run with its last checkpoint.
    ///
    /// # Errors
    /// When the store cannot be read or written. Another server goes on with the run when this one is gone.
    pub async fn to_its_end(mut self) -> Result<(AgentRun, Progress), Error> {
        while self.run.state == AgentRunState::Running && !self.working.is_over() && self.step().await? {}
        Ok((self.run, self.progress))
    }

    /// Takes one step. Returns `false` when this server does not work on the run any more.
    async fn step(&mut self) -> Result<bool, Error> {
        let Some(present) = self.invoker.present(&self.run).await? else {
            return self.fails("agent_gone", "the agent or the user of the run is gone").await;
        };
        match self.progress.calls.first().cloned() {
            None => self.ask(&present).await,
            Some(call) => self.carry_out(&present, &call).await,
        }
    }

    /// Asks the model for its next calls.
    async fn ask(&mut self, present: &Present) -> Result<bool, Error> {
        if let Some((code, message)) = self.exhausted() {
            return self.fails(code, message).await;
        }
        let tools = self.tools(present);
        let request = ModelRequest {
            model: self.progress.model.as_deref(),
            system: present.catalogue.running.revision.content.system_prompt.as_str(),
            transcript: &self.progress.transcript,
            tools: &tools,
        };
        let answered = tokio::select! {
            answered = self.model.ask(&request) => answered,
            () = self.working.over() => return Ok(false),
        };
        let mut reply = match answered {
            Ok(reply) => reply,
            Err(error @ ModelFailure::Refused(_)) => return self.fails("model_refused", error.to_string()).await,
            Err(error @ ModelFailure::Unavailable(_)) => {
                return self.fails("model_unavailable", error.to_string()).await;
            }
        };
        self.run.iterations += 1;
        for call in reply.calls.iter_mut().filter(|call| call.id.is_empty()) {
            call.id = format!("step_{}", self.run.iterations);
        }
        self.progress.tokens = self.progress.tokens.saturating_add(reply.tokens);
        self.progress.transcript.push(Entry::Model { text: reply.text.clone(), calls: reply.calls.clone() });
        self.progress.calls = reply.calls;
        let mut steps = Vec::new();
        if self.progress.calls.is_empty() {
            self.progress.tell(NO_CALL.to_owned());
            let step =
                json!({"iteration": self.run.iterations, "thought": reply.text, "action": null, "success": false});
            steps.push(NewStep { milestone: None, document: step.to_string() });
        }
        self.mark_begun();
        self.save(AgentRunState::Running, steps).await
    }

    /// Why the model is not asked again.
    fn exhausted(&self) -> Option<(&'static str, String)> {
        let Progress { iterations_max, tokens_max, tokens, .. } = self.progress;
        if self.run.iterations >= iterations_max {
            return Some(("max_iterations", format!("the run has no answer after {iterations_max} iterations")));
        }
        (tokens >= tokens_max).then(|| ("max_tokens", format!("the run has no answer after {tokens} tokens")))
    }

    fn tools(&self, present: &Present) -> Vec<ToolDefinition> {
        let own = present.catalogue.tools.iter().filter(|tool| self.progress.has(&tool.name));
        let own = own.map(|tool| ToolDefinition {
            name: tool.name.clone(),
            description: tool.description(),
            input_schema: tool.input_schema().clone(),
        });
        own.chain(definitions(&self.progress)).collect()
    }

    /// Notes that the first of the calls begins, if it is one of a tool. A checkpoint has to follow.
    fn mark_begun(&mut self) {
        let calls_tool = self.progress.calls.first().is_some_and(|call| !is_control_tool(&call.name));
        (self.progress.has_begun, self.began_here) = (calls_tool, calls_tool);
    }

    /// Carries out the first of the calls.
    async fn carry_out(&mut self, present: &Present, call: &ModelCall) -> Result<bool, Error> {
        if !self.progress.has(&call.name) {
            let observed = Observed::wrong(format!("the run has no tool {}", call.name));
            return self.observed(call, observed, None).await;
        }
        if let Some(problem) = call.problem.clone() {
            return self.observed(call, Observed::wrong(problem), None).await;
        }
        let clock = self.invoker.services.clock.clone();
        match apply(&mut self.progress, call, &clock) {
            None => self.call_tool(present, call).await,
            Some(Applied::Observed(result)) => self.observed(call, Observed::right(result.to_string()), None).await,
            Some(Applied::Logged { observation, milestone }) => {
                self.observed(call, Observed::right(observation.to_string()), milestone).await
            }
            Some(Applied::Wrong(problem)) => self.observed(call, Observed::wrong(problem), None).await,
            Some(Applied::Completed) => {
                let steps =
                    vec![self.step_of(&Done { call, observed: &Observed::right("completed".into()), milestone: None })];
                self.progress.calls.clear();
                self.save(AgentRunState::Completed, steps).await
            }
            Some(Applied::Paused) => {
                let steps =
                    vec![self.step_of(&Done { call, observed: &Observed::right("paused".into()), milestone: None })];
                self.save(AgentRunState::Paused, steps).await
            }
        }
    }

    async fn call_tool(&mut self, present: &Present, call: &ModelCall) -> Result<bool, Error> {
        if self.progress.has_begun && !self.began_here {
            return self.observed(call, Observed::wrong(INTERRUPTED.to_owned()), None).await;
        }
        if !self.progress.has_begun {
            self.mark_begun();
            if !self.save(AgentRunState::Running, Vec::new()).await? {
                return Ok(false);
            }
        }
        let cancelled = self.working.cancelled.clone();
        let observed = self.invoker.call_tool(present, call, &cancelled).await?;
        self.observed(call, observed, None).await
    }

    /// Writes what came of the first of the calls.
    async fn observed(
        &mut self,
        call: &ModelCall,
        observed: Observed,
        milestone: Option<String>,
    ) -> Result<bool, Error> {
        let step = self.step_of(&Done { call, observed: &observed, milestone });
        let times = self.progress.repeated.count(call, &observed.text);
        self.progress.observe(observed.text, observed.is_error);
        self.began_here = false;
        let state = if times >= self.progress.on_stuck.iterations { self.stuck() } else { AgentRunState::Running };
        self.save(state, vec![step]).await
    }

    /// The run is stuck. Returns its next state.
    fn stuck(&mut self) -> AgentRunState {
        self.progress.repeated.reset();
        let was_hinted = std::mem::replace(&mut self.progress.repeated.was_hinted, true);
        match self.progress.on_stuck.action {
            StuckAction::Escalate => {
                let question =
                    "The run is stuck: the same call has the same result again and again. How shall it go on?";
                self.progress.question = Some(HumanQuestion {
                    question: question.to_owned(),
                    options: Vec::new(),
                    context_summary: None,
                    urgency: None,
                });
                AgentRunState::Paused
            }
            StuckAction::RetryWithHint if !was_hinted && self.progress.calls.is_empty() => {
                let hint = self.progress.on_stuck.hint.clone();
                self.progress.tell(hint.unwrap_or_else(|| HINT.to_owned()));
                AgentRunState::Running
            }
            StuckAction::Fail | StuckAction::RetryWithHint => {
                self.progress.fail("stuck", "the same call had the same result again and again");
                AgentRunState::Failed
            }
        }
    }

    fn step_of(&self, done: &Done<'_>) -> NewStep {
        let Done { call, observed, milestone } = done;
        let thought = self.progress.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Model { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let step = json!({
            "iteration": self.run.iterations, "thought": thought, "action": call.name, "action_input": call.input,
            "observation": cut(observed.text.clone(), STEP_OBSERVATION_BYTES_MAX), "success": !observed.is_error,
            "invocation_id": observed.invocation.as_ref().map(ToString::to_string),
        });
        NewStep { milestone: milestone.clone(), document: step.to_string() }
    }

    async fn fails(&mut self, code: &str, message: impl Into<String>) -> Result<bool, Error> {
        self.progress.fail(code, message);
        self.save(AgentRunState::Failed, Vec::new()).await
    }

    /// Writes a checkpoint. Returns `false` when this server does not work on the run any more.
    async fn save(&mut self, state: AgentRunState, steps: Vec<NewStep>) -> Result<bool, Error> {
        let (mut state, mut document) = (state, self.progress.written()?);
        if document.len() > DOCUMENT_BYTES_MAX && !state.has_ended() {
            self.progress
                .fail("transcript_too_long", format!("a run has at most {DOCUMENT_BYTES_MAX} bytes of transcript"));
            (state, document) = (AgentRunState::Failed, self.progress.written()?);
        }
        let checkpoint = Checkpoint { state, iterations: self.run.iterations, document, steps };
        let saved = self.invoker.services.store.save_agent_run(&self.run, checkpoint).await?;
        let is_ours = saved.is_some();
        if let Some(run) = saved {
            self.run = run;
        }
        Ok(is_ours)
    }
}
