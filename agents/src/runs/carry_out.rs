//! The calls for which a model asks are carried out.

use registry::{AgentRunState, NewStep};

use super::control::{ControlEffect, apply, is_control_tool};
use super::human::HumanQuestion;
use super::observation::ToolObservation;
use super::run_loop::AgentRunLoop;
use super::stuck::StuckAction;
use super::tool_step::{Called, RunContext};
use crate::error::Error;
use crate::model::ModelCall;

/// The result of a call whose server stopped during it.
pub(super) const INTERRUPTED: &str =
    "interrupted: the server stopped during this call. It may have had effects; look before you call it again.";
/// The result of a call that stands after the end of the run in the same answer.
const COMPLETED_BEFORE: &str = "not made: the run was completed before";
/// The question to a person about a run that is stuck.
const IS_STUCK: &str = "The run is stuck: the same call has the same result again and again. How shall it go on?";
/// The hint for a run that is stuck, unless its options have one.
const HINT: &str = "The same call had the same result several times. Try something else.";

impl AgentRunLoop {
    /// Notes that the first of the calls begins, if it is one of a tool. A checkpoint has to follow.
    pub(super) fn mark_begun(&mut self) {
        let calls_tool = self.progress.calls.first().is_some_and(|call| !is_control_tool(&call.name));
        (self.progress.has_begun, self.began_here) = (calls_tool, calls_tool);
    }

    /// Carries out the first of the calls.
    pub(super) async fn carry_out(&mut self, context: &RunContext, call: &ModelCall) -> Result<bool, Error> {
        if !self.progress.allows_tool(&call.name) {
            let observed = ToolObservation::failure(format!("the run has no tool {}", call.name));
            return self.observed(call, observed, None).await;
        }
        if let Some(problem) = call.problem.clone() {
            return self.observed(call, ToolObservation::failure(problem), None).await;
        }
        if self.progress.has_begun && !self.began_here {
            return self.observed(call, ToolObservation::failure(INTERRUPTED.to_owned()), None).await;
        }
        let clock = self.service.clock.clone();
        match apply(&mut self.progress, call, &clock) {
            None => self.call_tool(context, call).await,
            Some(ControlEffect::Result(result)) => {
                self.observed(call, ToolObservation::success(result.to_string()), None).await
            }
            Some(ControlEffect::Logged { observation, milestone }) => {
                self.observed(call, ToolObservation::success(observation.to_string()), milestone).await
            }
            Some(ControlEffect::InvalidArguments(problem)) => {
                self.observed(call, ToolObservation::failure(problem), None).await
            }
            Some(ControlEffect::RunWorkflow(request)) => self.run_workflow(context, call, request).await,
            Some(ControlEffect::Completed) => {
                let step = self.step_of(call, &ToolObservation::success("completed".into()));
                // The model sees no result any more, but the list of steps shows what it asked for.
                let rest = std::mem::take(&mut self.progress.calls).into_iter().skip(1);
                let not_made = ToolObservation::failure(COMPLETED_BEFORE.to_owned());
                let rest = rest.map(|call| self.step_of(&call, &not_made));
                let steps = std::iter::once(step).chain(rest).collect();
                self.save(AgentRunState::Completed, steps).await
            }
            Some(ControlEffect::Paused) => {
                let step = self.step_of(call, &ToolObservation::success("paused".into()));
                self.save(AgentRunState::Paused, vec![step]).await
            }
        }
    }

    /// Writes that the first of the calls begins, unless the last checkpoint says so. Returns whether this server makes the call.
    pub(super) async fn begin_call(&mut self) -> Result<bool, Error> {
        if self.progress.has_begun {
            return Ok(true);
        }
        (self.progress.has_begun, self.began_here) = (true, true);
        self.save(AgentRunState::Running, Vec::new()).await
    }

    async fn call_tool(&mut self, context: &RunContext, call: &ModelCall) -> Result<bool, Error> {
        if !self.begin_call().await? {
            return Ok(false);
        }
        let cancelled = self.working.cancelled.clone();
        match self.service.call_tool(context, call, &cancelled).await? {
            Called::Ended(observed) => self.observed(call, observed, None).await,
            Called::Asks { questions, component, invocation } => {
                let waits = ToolObservation { invocation, ..ToolObservation::success("waits for a person".into()) };
                let step = self.step_of(call, &waits);
                self.progress.ask_for_call(&call.name, questions, component);
                self.began_here = false;
                self.save(AgentRunState::Paused, vec![step]).await
            }
        }
    }

    /// Writes the result of the first of the calls.
    pub(super) async fn observed(
        &mut self,
        call: &ModelCall,
        observed: ToolObservation,
        milestone: Option<String>,
    ) -> Result<bool, Error> {
        let step = NewStep { milestone, ..self.step_of(call, &observed) };
        self.began_here = false;
        if self.progress.single_call.is_some() {
            let state = self.progress.end_of_call(observed);
            return self.save(state, vec![step]).await;
        }
        let times = self.progress.repeated.count(call, &observed.text);
        self.progress.observe(observed.text, observed.is_error);
        let state =
            if times >= self.progress.options.on_stuck.iterations { self.stuck() } else { AgentRunState::Running };
        self.save(state, vec![step]).await
    }

    /// The run is stuck. Returns its next state.
    fn stuck(&mut self) -> AgentRunState {
        self.progress.repeated.reset();
        let was_hinted = std::mem::replace(&mut self.progress.repeated.was_hinted, true);
        match self.progress.options.on_stuck.action {
            StuckAction::Escalate if !self.progress.asks_nobody() => {
                self.progress.question = Some(HumanQuestion::of_server(IS_STUCK));
                AgentRunState::Paused
            }
            StuckAction::RetryWithHint if !was_hinted => {
                let hint = self.progress.options.on_stuck.hint.clone();
                self.progress.push_user_message(hint.unwrap_or_else(|| HINT.to_owned()));
                AgentRunState::Running
            }
            StuckAction::Fail | StuckAction::RetryWithHint | StuckAction::Escalate => {
                self.progress.fail("stuck", "the same call had the same result again and again");
                AgentRunState::Failed
            }
        }
    }
}
