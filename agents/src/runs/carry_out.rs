//! The calls for which a model asks are carried out.

use registry::HumanRequestId;

use super::control::{ControlEffect, apply, is_control_tool};
use super::human::HumanQuestion;
use super::observation::ToolObservation;
use super::pending_calls::PendingCalls;
use super::run_loop::AgentRunLoop;
use super::run_stage::{Asker, RunStage};
use super::stuck::StuckAction;
use super::tool_step::{Called, RunContext};
use crate::domain::agent_runs::NewStep;
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
    /// Takes over the calls of an answer of the model. The first begins with the next checkpoint, if it is one of a tool.
    pub(super) fn begin_calls(&mut self, calls: PendingCalls) {
        let has_begun = !is_control_tool(&calls.call.name);
        self.began_here = has_begun;
        self.checkpoint.stage = RunStage::Calling { calls, has_begun };
    }

    /// Carries out the first of these calls. `may_have_begun` tells whether a server may have begun it.
    pub(super) async fn carry_out(
        &mut self,
        context: &RunContext,
        calls: PendingCalls,
        may_have_begun: bool,
    ) -> Result<bool, Error> {
        let call = &calls.call;
        if !self.checkpoint.allows_tool(&call.name) {
            let observed = ToolObservation::failure(format!("the run has no tool {}", call.name));
            return self.record_result(calls, observed, None).await;
        }
        if let Some(problem) = call.problem.clone() {
            return self.record_result(calls, ToolObservation::failure(problem), None).await;
        }
        if may_have_begun && !self.began_here {
            return self.record_result(calls, ToolObservation::failure(INTERRUPTED.to_owned()), None).await;
        }
        let clock = self.service.clock.clone();
        match apply(&mut self.checkpoint, call, &clock) {
            None => self.call_tool(context, calls).await,
            Some(ControlEffect::Result(result)) => {
                self.record_result(calls, ToolObservation::success(result.to_string()), None).await
            }
            Some(ControlEffect::Logged { observation, milestone }) => {
                self.record_result(calls, ToolObservation::success(observation.to_string()), milestone).await
            }
            Some(ControlEffect::InvalidArguments(problem)) => {
                self.record_result(calls, ToolObservation::failure(problem), None).await
            }
            Some(ControlEffect::RunWorkflow(request)) => self.run_workflow(context, calls, request).await,
            Some(ControlEffect::Completed(answer)) => {
                let step = self.build_step(call, &ToolObservation::success("completed".into()));
                // The model sees no result any more, but the list of steps shows what it asked for.
                let not_made = ToolObservation::failure(COMPLETED_BEFORE.to_owned());
                let rest = calls.rest.iter().map(|call| self.build_step(call, &not_made));
                let steps = std::iter::once(step).chain(rest).collect();
                self.checkpoint.complete(answer);
                self.save(steps).await
            }
            Some(ControlEffect::Asks(question)) => {
                let step = self.build_step(call, &ToolObservation::success("paused".into()));
                self.checkpoint.ask_person(HumanRequestId::new(&clock), *question, Asker::Call(Box::new(calls)));
                self.save(vec![step]).await
            }
        }
    }

    /// Writes that the first of the calls begins, unless the last checkpoint says so. Returns whether this server makes the call.
    pub(super) async fn begin_call(&mut self) -> Result<bool, Error> {
        match &mut self.checkpoint.stage {
            RunStage::Calling { has_begun, .. } if !*has_begun => *has_begun = true,
            _ => return Ok(true),
        }
        self.began_here = true;
        self.save(Vec::new()).await
    }

    async fn call_tool(&mut self, context: &RunContext, calls: PendingCalls) -> Result<bool, Error> {
        if !self.begin_call().await? {
            return Ok(false);
        }
        let cancelled = self.working.cancelled.clone();
        match self.service.call_tool(context, &calls.call, &cancelled).await? {
            Called::Ended(observed) => self.record_result(calls, observed, None).await,
            Called::Asks { questions, component, invocation } => {
                let waits = ToolObservation { invocation, ..ToolObservation::success("waits for a person".into()) };
                let step = self.build_step(&calls.call, &waits);
                let request = HumanRequestId::new(&self.service.clock);
                self.checkpoint.ask_for_call(request, calls, questions, component);
                self.began_here = false;
                self.save(vec![step]).await
            }
        }
    }

    /// Writes the result of the first of these calls.
    pub(super) async fn record_result(
        &mut self,
        calls: PendingCalls,
        observed: ToolObservation,
        milestone: Option<String>,
    ) -> Result<bool, Error> {
        let step = NewStep { milestone, ..self.build_step(&calls.call, &observed) };
        self.began_here = false;
        if self.checkpoint.single_call.is_some() {
            self.checkpoint.end_of_call(observed);
            return self.save(vec![step]).await;
        }
        let times = self.checkpoint.repeated.count(&calls.call, &observed.text);
        if times >= self.checkpoint.options.on_stuck.iterations {
            let PendingCalls { call, rest, .. } = calls;
            self.checkpoint.push_observation(call, observed.text, observed.is_error);
            self.end_loop(rest);
        } else {
            self.checkpoint.observe(calls, observed.text, observed.is_error);
        }
        self.save(vec![step]).await
    }

    /// Ends the calls of a run that is stuck.
    fn end_loop(&mut self, not_made: Vec<ModelCall>) {
        self.checkpoint.repeated.reset();
        let was_hinted = std::mem::replace(&mut self.checkpoint.repeated.was_hinted, true);
        match self.checkpoint.options.on_stuck.action {
            StuckAction::Escalate if !self.checkpoint.asks_nobody() => {
                let (request, asker) = (HumanRequestId::new(&self.service.clock), Asker::StuckRun { not_made });
                self.checkpoint.ask_person(request, HumanQuestion::of_server(IS_STUCK), asker);
            }
            StuckAction::RetryWithHint if !was_hinted => {
                let hint = self.checkpoint.options.on_stuck.hint.clone();
                self.checkpoint.push_user_message(hint.unwrap_or_else(|| HINT.to_owned()), not_made);
            }
            StuckAction::Fail | StuckAction::RetryWithHint | StuckAction::Escalate => {
                self.checkpoint.fail("stuck", "the same call had the same result again and again");
            }
        }
    }
}
