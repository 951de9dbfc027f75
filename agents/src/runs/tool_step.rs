//! A call of a tool of the agent.

use std::sync::Arc;

use registry::{AgentCall, AgentProtocol, CallVia, CallerNames, Digest, Principal, RawJson, RunId};
use runner::{
    Call, CallOrigin, Depth, ErrorKind, EventSender, Input, Interaction, Question, Refusal, ResultPersistence,
    RunResult, Subject, ToolCaller,
};
use tokio_util::sync::CancellationToken;

use super::observation::ToolObservation;
use super::run_checkpoint::{RunCheckpoint, SingleCall};
use super::run_options::AgentRunOptions;
use super::service::AgentRunService;
use crate::catalogue::{Catalogue, ListedSource, ListedTool};
use crate::domain::agent_runs::AgentRun;
use crate::domain::agents::AgentReference;
use crate::error::Error;
use crate::model::ModelCall;

/// The end of a call.
pub(super) enum Called {
    Ended(ToolObservation),
    /// The call is made again when a person has answered.
    Asks {
        questions: Vec<Question>,
        /// The code that asks; `None` for a tool of the server.
        component: Option<Digest>,
        /// The record of this attempt.
        invocation: Option<RunId>,
    },
}

/// The user of a run with the agent's tools, both as they are now.
pub(super) struct RunContext {
    pub principal: Principal,
    pub catalogue: Arc<Catalogue>,
    pub names: CallerNames,
    pub depth: Depth,
    pub interaction: Interaction,
    pub single_call: Option<SingleCall>,
}

impl AgentRunService {
    /// Reads the user's rights and the agent's tools. `None` when the user or the agent is gone.
    pub(super) async fn present(
        &self,
        run: &AgentRun,
        checkpoint: &RunCheckpoint,
    ) -> Result<Option<RunContext>, Error> {
        let store = &self.store;
        let Some(principal) = store.registry().versions().principal(&run.organization, &run.account).await? else {
            return Ok(None);
        };
        let reference = AgentReference::from(&run.agent);
        let Some(running) = store.agents().running_agent(&principal, &reference).await? else { return Ok(None) };
        let AgentRunOptions { built_in_tools, names, depth, .. } = &checkpoint.options;
        let catalogue = self.catalogues.catalogue_with(&principal, running, built_in_tools.as_ref()).await?;
        let called = checkpoint.pending_calls().and_then(|calls| catalogue.find(&calls.call.name));
        let component = called.and_then(find_component);
        let (names, depth, interaction) = (names.clone(), *depth, checkpoint.build_interaction(component));
        let single_call = checkpoint.single_call.clone();
        Ok(Some(RunContext { principal, catalogue, names, depth, interaction, single_call }))
    }

    /// Calls a tool. A refused or failed call is an observation, too.
    pub(super) async fn call_tool(
        &self,
        present: &RunContext,
        model_call: &ModelCall,
        cancelled: &CancellationToken,
    ) -> Result<Called, Error> {
        let Some(listed) = present.catalogue.find(&model_call.name) else {
            let meant = present.catalogue.suggest(&model_call.name);
            let unknown = ToolObservation::failure(format!("the agent has no tool {}{meant}", model_call.name));
            return Ok(Called::Ended(unknown));
        };
        let call = call(present, listed, model_call.input.clone(), cancelled.child_token());
        match self.invoker.try_invoke(call, EventSender::none()).await {
            Ok(mut results) => {
                let result = results.pop().ok_or_else(|| Error::internal("a call has no result"))?;
                Ok(Called::of(result, listed))
            }
            Err(Refusal { error: runner::Error::ConfirmationAsked(question), records, .. }) => {
                let (questions, invocation) = (vec![*question], records.into_iter().next());
                Ok(Called::Asks { questions, component: find_component(listed), invocation })
            }
            Err(Refusal { error, .. }) if error.kind() == ErrorKind::Internal => Err(error.into()),
            Err(refusal) => Ok(Called::Ended(ToolObservation::of_refusal(refusal, listed))),
        }
    }
}

impl Called {
    fn of(mut result: RunResult, listed: &ListedTool) -> Self {
        match std::mem::take(&mut result.asked.questions) {
            none if none.is_empty() => Self::Ended(ToolObservation::of_run(result, listed)),
            questions => {
                Self::Asks { questions, component: find_component(listed), invocation: Some(result.invocation_id) }
            }
        }
    }
}

/// The code of a tool of the agent; `None` for a tool of the server.
pub(super) fn find_component(listed: &ListedTool) -> Option<Digest> {
    match &listed.source {
        ListedSource::Native(_) => None,
        ListedSource::Published { callable, .. } => Some(callable.version.component_digest),
    }
}

/// The call of a tool of the agent, for the user of the run.
pub(super) fn call(present: &RunContext, listed: &ListedTool, input: RawJson, cancelled: CancellationToken) -> Call {
    let RunContext { principal, catalogue, names, depth, interaction, single_call } = present;
    let running = &catalogue.running;
    let (subject, pinned, result_persistence) = match &listed.source {
        ListedSource::Native(tool) => (Subject::Native(tool.clone()), None, ResultPersistence::default()),
        ListedSource::Published { callable, assignment, api } => {
            (Subject::of(callable, api.as_ref()), assignment.component_digest, assignment.result_persistence)
        }
    };
    let via = CallVia::Agent(AgentCall {
        agent: running.agent.id.clone(),
        revision: running.revision.deployment.number,
        protocol: if single_call.is_some() { AgentProtocol::Mcp } else { AgentProtocol::Rest },
        client: single_call.as_ref().and_then(|call| call.client.clone()),
        turn: None,
    });
    let caller = ToolCaller { via, names: names.clone(), ..ToolCaller::direct(principal.clone()) };
    Call {
        human_intervention: listed.human_intervention(running),
        pinned: pinned.into_iter().chain(single_call.as_ref().and_then(|call| call.pinned)).collect(),
        result_persistence,
        depth: *depth,
        origin: CallOrigin::Checkpointed,
        cancelled,
        interaction: interaction.clone(),
        ..Call::new(subject, caller, vec![Input::of(input)])
    }
}
