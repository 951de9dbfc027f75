//! Runs of agents are started, resumed, cancelled and taken over.

use std::sync::Arc;

use registry::{Admitted, AgentRunId, HumanRequestId, Once, Principal};

use super::bounds::require_within_bounds;
use super::control::is_control_tool;
use super::human::HumanResponse;
use super::run_checkpoint::RunCheckpoint;
use super::run_loop::AgentRunLoop;
use super::run_options::AgentRunOptions;
use super::run_stage::OpenQuestion;
use super::service::AgentRunService;
use crate::domain::agent_runs::{
    AgentRun, AgentRunKind, AgentRunState, AgentRunStep, HumanRequest, HumanRequestKind, HumanRequestState,
    NewAgentRun, NewHumanResponse, RunObjective, StartedAgentRun, StepFilter,
};
use crate::domain::agents::{AgentReference, RunningAgent};
use crate::error::Error;
use crate::model::Model;

/// Bytes of the steps of one answer. A step has up to 20 KiB, in JSON with escapes several times that. The step that reaches the bound is
/// the last.
const TRACE_BYTES_MAX: usize = 8 << 20;

/// A request for a run that was accepted.
pub enum Begun {
    /// A new run, which nobody works on yet.
    Work(Box<AgentRunLoop>),
    /// The run that an earlier request with the same key started.
    Repeated(Box<(AgentRun, RunCheckpoint)>),
    /// The key belongs to another request.
    OtherRequest,
}

impl AgentRunService {
    /// Starts a run of an agent on behalf of a user. `None` when there is no such agent that the user sees and that is deployed.
    ///
    /// # Errors
    /// When the server has no model, the agent lacks a tool, or too many runs go on.
    pub async fn start(
        &self,
        principal: &Principal,
        agent: &AgentReference,
        options: AgentRunOptions,
        once: Option<Once>,
    ) -> Result<Option<Begun>, Error> {
        if let Some(once) = &once
            && let Some(earlier) = self.store.agent_runs().find_agent_run(principal, once).await?
        {
            return self.begin_run(earlier, None).map(Some);
        }
        if options.depth.is_too_deep_for_http() {
            return Err(runner::Error::LoopDetected.into());
        }
        let Some(running) = self.store.agents().running_agent(principal, agent).await? else {
            return Ok(None);
        };
        require_within_bounds(&*self.require_model()?, &options)?;
        self.require_tools(principal, running.clone(), &options).await?;
        let admitted = self.working.admission.admit(&principal.organization, 1)?;
        let (agent, objective) = (running.agent.id.clone(), RunObjective::of(&options.objective));
        let document = RunCheckpoint::new(options).written()?;
        let new = NewAgentRun { agent, kind: AgentRunKind::Agent, objective, document, once };
        let started = self.store.agent_runs().start_agent_run(principal, new).await?;
        self.begin_run(started, Some(admitted)).map(Some)
    }

    fn begin_run(&self, started: StartedAgentRun, admitted: Option<Admitted>) -> Result<Begun, Error> {
        Ok(match started {
            StartedAgentRun::New(run) => {
                let checkpoint = RunCheckpoint::read(&run.document)?;
                let model = Some(self.require_model()?);
                Begun::Work(Box::new(AgentRunLoop::new(self.clone(), model, run, checkpoint).with_admitted(admitted)))
            }
            StartedAgentRun::Repeated(run) => {
                let checkpoint = RunCheckpoint::read(&run.document)?;
                Begun::Repeated(Box::new((run, checkpoint)))
            }
            StartedAgentRun::OtherRequest => Begun::OtherRequest,
        })
    }

    async fn require_tools(
        &self,
        principal: &Principal,
        running: Arc<RunningAgent>,
        options: &AgentRunOptions,
    ) -> Result<(), Error> {
        let catalogue = self.catalogues.catalogue_with(principal, running, options.built_in_tools.as_ref()).await?;
        let mut tools = options.tools.iter().flatten();
        let unknown = tools.find(|name| !is_control_tool(name) && catalogue.find(name).is_none());
        unknown.map_or(Ok(()), |name| Err(Error::RunToolUnknown { name: name.clone(), meant: catalogue.suggest(name) }))
    }

    /// Answers the question of a run that waits for a person. `None` when the user sees no such run.
    ///
    /// # Errors
    /// When the run does not wait, or the answer does not fit. A permission or the values of a form are for one call, so that their
    /// answer names the request.
    pub async fn resume(
        &self,
        principal: &Principal,
        run: &AgentRunId,
        response: HumanResponse,
    ) -> Result<Option<AgentRunLoop>, Error> {
        let Some((_, checkpoint)) = self.find(principal, run).await? else { return Ok(None) };
        let OpenQuestion { request, question, .. } = checkpoint.open_question().ok_or(Error::AgentRunNotPaused)?;
        if question.kind != HumanRequestKind::Question {
            let reason = format!("answer the request {request} of kind {}", question.kind.as_str());
            return Err(Error::HumanResponse { reason });
        }
        let (open, checkpoint) = self.open_request(principal, request).await?.ok_or(Error::AgentRunNotPaused)?;
        self.answer(principal, open, checkpoint, &response).await?.map(Some).ok_or(Error::AgentRunNotPaused)
    }

    /// Answers a request of a run, which goes on. `None` when the user sees no such request.
    ///
    /// # Errors
    /// When the request is not open any more, or the answer does not fit it.
    pub async fn answer_human_request(
        &self,
        principal: &Principal,
        request: &HumanRequestId,
        response: HumanResponse,
    ) -> Result<Option<AgentRunLoop>, Error> {
        if self.store.agent_runs().get_human_request(principal, request).await?.is_none() {
            return Ok(None);
        }
        let (found, checkpoint) = self.open_request(principal, request).await?.ok_or(Error::HumanRequestClosed)?;
        self.answer(principal, found, checkpoint, &response).await?.map(Some).ok_or(Error::HumanRequestClosed)
    }

    /// The run of an open request.
    pub(super) async fn open_request(
        &self,
        principal: &Principal,
        request: &HumanRequestId,
    ) -> Result<Option<(AgentRun, RunCheckpoint)>, Error> {
        let asked = self.store.agent_runs().get_human_request(principal, request).await?;
        let Some(asked) = asked.filter(|asked| self.is_open(asked)) else { return Ok(None) };
        let found = self.find(principal, &asked.agent_run).await?;
        Ok(found.filter(|(_, checkpoint)| checkpoint.open_question().is_some_and(|open| open.request == *request)))
    }

    fn is_open(&self, request: &HumanRequest) -> bool {
        request.state == HumanRequestState::Open && request.expires_at > self.clock.now()
    }

    /// `None` when the run does not wait any more.
    async fn answer(
        &self,
        principal: &Principal,
        found: AgentRun,
        mut checkpoint: RunCheckpoint,
        response: &HumanResponse,
    ) -> Result<Option<AgentRunLoop>, Error> {
        if found.state != AgentRunState::Paused {
            return Ok(None);
        }
        let open = checkpoint.respond(response)?;
        self.go_on(principal, found, checkpoint, &open, response).await
    }

    /// Goes on with a run that has its answer. `None` when the run does not wait any more.
    pub(super) async fn go_on(
        &self,
        principal: &Principal,
        found: AgentRun,
        checkpoint: RunCheckpoint,
        answered: &OpenQuestion,
        response: &HumanResponse,
    ) -> Result<Option<AgentRunLoop>, Error> {
        let model = self.find_model(&found)?;
        let admitted = self.working.admission.admit(&principal.organization, 1)?;
        let by_person = NewHumanResponse { by: principal.user(), document: response.encode() };
        let is_agreed = response.approved != Some(false);
        let step = answered.build_step(found.iterations, &response.encode(), is_agreed);
        let resumed = self.store.agent_runs().resume_agent_run(&found, checkpoint.written()?, by_person, step).await?;
        let run =
            resumed.map(|run| AgentRunLoop::new(self.clone(), model, run, checkpoint).with_admitted(Some(admitted)));
        Ok(run)
    }

    /// Cancels a run. `None` when the user sees no such run, `false` when it has ended.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn cancel(&self, principal: &Principal, run: &AgentRunId) -> Result<Option<bool>, Error> {
        let Some(found) = self.store.agent_runs().get_agent_run(principal, run).await? else {
            return Ok(None);
        };
        let was_cancelled = self.store.agent_runs().cancel_agent_run(&found).await?;
        self.working.cancel(run);
        Ok(Some(was_cancelled))
    }

    /// Closes requests that nobody has answered in time. Their runs go on.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn expire_human_requests(&self) -> Result<(), Error> {
        Ok(self.store.agent_runs().expire_human_requests().await?)
    }

    /// Takes over a run whose server is gone, if there is one and this server has a model.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn take_over(&self) -> Result<Option<AgentRunLoop>, Error> {
        let capacity = self.working.capacity(self.model.is_some());
        let Some(run) = self.store.agent_runs().take_over_agent_run(&capacity).await? else { return Ok(None) };
        let model = self.find_model(&run)?;
        let checkpoint = match RunCheckpoint::read(&run.document) {
            Ok(checkpoint) => checkpoint,
            Err(error) => {
                tracing::error!(%error, run = %run.id, "a damaged run of an agent is cancelled");
                self.store.agent_runs().cancel_agent_run(&run).await?;
                return Ok(None);
            }
        };
        Ok(Some(AgentRunLoop::new(self.clone(), model, run, checkpoint)))
    }

    /// Ends the work on runs of agents. Other servers go on with them, or this one after its next start.
    pub fn stop(&self) {
        self.working.stopping.cancel();
    }

    /// Finds a run with its checkpoint, if the user sees it.
    ///
    /// # Errors
    /// When the store cannot be read, or the checkpoint is damaged.
    pub async fn find(
        &self,
        principal: &Principal,
        run: &AgentRunId,
    ) -> Result<Option<(AgentRun, RunCheckpoint)>, Error> {
        let Some(found) = self.store.agent_runs().get_agent_run(principal, run).await? else {
            return Ok(None);
        };
        let checkpoint = RunCheckpoint::read(&found.document)?;
        Ok(Some((found, checkpoint)))
    }

    /// Returns steps of a run, the first ones first, as many as one answer may have, and whether there are more.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn steps(&self, run: &AgentRun, filter: StepFilter) -> Result<(Vec<AgentRunStep>, bool), Error> {
        let (steps, has_more) = self.store.agent_runs().agent_run_steps(run, filter).await?;
        let read = steps.len();
        let page = cut_page(steps);
        let is_cut = page.len() < read;
        Ok((page, has_more || is_cut))
    }

    /// The model of a run, unless it takes none.
    fn find_model(&self, run: &AgentRun) -> Result<Option<Arc<Model>>, Error> {
        match run.kind {
            AgentRunKind::Agent => self.require_model().map(Some),
            AgentRunKind::Call => Ok(None),
        }
    }

    /// Tokens of a run whose request names no bound.
    #[must_use]
    pub fn tokens_default(&self) -> u64 {
        let max = self.model.as_ref().map_or(u64::MAX, |model| model.bounds().tokens_max);
        max.min(AgentRunOptions::TOKENS)
    }

    fn require_model(&self) -> Result<Arc<Model>, Error> {
        self.model.clone().ok_or(Error::ModelMissing)
    }
}

/// The first steps, as many as one answer may have.
fn cut_page(mut steps: Vec<AgentRunStep>) -> Vec<AgentRunStep> {
    let mut bytes = 0;
    let reached = steps.iter().position(|step| {
        bytes += step.document.len();
        bytes >= TRACE_BYTES_MAX
    });
    steps.truncate(reached.map_or(steps.len(), |last| last + 1));
    steps
}

#[cfg(test)]
mod tests {
    use registry::Timestamp;

    use super::*;

    #[test]
    fn a_trace_ends_with_the_step_that_reaches_the_bound() {
        let count = |bytes: usize| {
            let at = Timestamp::from_milliseconds(0);
            cut_page((1..=9).map(|number| AgentRunStep { number, document: "x".repeat(bytes), at }).collect()).len()
        };
        let third = TRACE_BYTES_MAX / 3;
        assert_eq!([10, third, third + 1, 2 * TRACE_BYTES_MAX].map(count), [9, 4, 3, 1]);
    }
}
