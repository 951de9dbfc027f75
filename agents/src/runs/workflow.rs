//! `__run_workflow__`: a run of a workflow, which is a published tool of the agent. It is a task of its own, so that it goes on when the
//! run of the agent does not wait for its end.

use std::time::Duration;

use registry::{RunId, ToolId};
use runner::{Call, ErrorKind, EventSender, Interaction, Outcome, Refusal, RunResult};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::observation::ToolObservation;
use super::pending_calls::PendingCalls;
use super::run_loop::AgentRunLoop;
use super::service::AgentRunService;
use super::tool_step::{self, RunContext};
use super::workflow_request::WorkflowRequest;
use crate::error::Error;

type Ended = Result<Vec<RunResult>, Refusal>;

/// A workflow that runs in a task of its own.
struct StartedWorkflow {
    cancelled: CancellationToken,
    /// Cancelled when the start is recorded.
    started: CancellationToken,
    ended: oneshot::Receiver<Ended>,
}

/// The observation of a workflow. The ids come first, since a long observation is cut at its end.
#[derive(Serialize)]
struct Observation<'a> {
    workflow_run_id: &'a RunId,
    workflow_id: &'a ToolId,
    #[serde(flatten)]
    state: WorkflowState,
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum WorkflowState {
    Running {
        #[serde(skip_serializing_if = "Option::is_none")]
        timed_out: Option<bool>,
    },
    Completed {
        context: Value,
        result: Value,
    },
    Failed {
        error: Value,
    },
}

impl AgentRunLoop {
    /// Runs a workflow, and waits for its end if the model wants that.
    pub(super) async fn run_workflow(
        &mut self,
        context: &RunContext,
        calls: PendingCalls,
        request: WorkflowRequest,
    ) -> Result<bool, Error> {
        let workflow = match request.find(&context.catalogue) {
            Ok(workflow) => workflow,
            Err(problem) => return self.record_result(calls, ToolObservation::failure(problem), None).await,
        };
        let run = RunId::new(&self.service.clock);
        // The checkpoint before the workflow has its id, so that its record is found whatever happens to this server.
        self.checkpoint.triggered_runs.push(run.clone());
        if !self.begin_call().await? {
            return Ok(false);
        }
        let wait_max = request.wait_max();
        let made = tool_step::call(context, workflow.listed, request.input.into(), CancellationToken::new());
        // A workflow asks nobody, since it may go on without the run.
        let made = Call { run_id: Some(run.clone()), interaction: Interaction::default(), ..made };
        let started = self.service.start_workflow(made);
        let state = started.end_within(wait_max, &self.working.cancelled).await?;
        let observed = build_observation(run, &workflow.tool.id, state)?;
        self.record_result(calls, observed, None).await
    }
}

impl AgentRunService {
    /// Takes the call of a workflow through all steps, in a task of its own.
    fn start_workflow(&self, call: Call) -> StartedWorkflow {
        let (cancelled, (sender, ended)) = (call.cancelled.clone(), oneshot::channel());
        let (invoker, started) = (self.invoker.clone(), CancellationToken::new());
        let events = EventSender::of_start(started.clone());
        let work = async move {
            let unheard = sender.send(invoker.try_invoke(call, events).await).err();
            if let Some(Err(Refusal { error, .. })) = unheard
                && error.kind() == ErrorKind::Internal
            {
                tracing::error!(%error, "a workflow in the background failed because of a fault of the host");
            }
        };
        self.working.workflows.spawn(work.in_current_span());
        StartedWorkflow { cancelled, started, ended }
    }

    /// Completes when the workflows of all runs of agents have ended. Call it when no run starts others any more.
    pub async fn workflows_ended(&self) {
        self.working.workflows.close();
        self.working.workflows.wait().await;
    }
}

impl StartedWorkflow {
    /// Waits for the end of the workflow, up to a time, or for its start. A run of an agent that is cancelled meanwhile cancels the workflow.
    async fn end_within(
        mut self,
        wait_max: Option<Duration>,
        run_cancelled: &CancellationToken,
    ) -> Result<WorkflowState, Error> {
        let begun = async {
            match wait_max {
                Some(wait_max) => sleep(wait_max).await,
                // A call that is refused has no start.
                None => self.started.cancelled().await,
            }
        };
        let ended = tokio::select! {
            biased;
            ended = &mut self.ended => ended,
            () = run_cancelled.cancelled() => {
                self.cancelled.cancel();
                (&mut self.ended).await
            }
            () = begun => return Ok(WorkflowState::Running { timed_out: wait_max.map(|_| true) }),
        };
        WorkflowState::of(ended.map_err(|_| Error::internal("a workflow ended without a result"))?)
    }
}

impl WorkflowState {
    /// A refused call has failed. A fault of the host is an error of the run of the agent.
    fn of(ended: Ended) -> Result<Self, Error> {
        match ended {
            Ok(mut results) => results.pop().map(Self::of_run).ok_or_else(|| Error::internal("a call has no result")),
            Err(Refusal { error, .. }) if error.kind() == ErrorKind::Internal => Err(error.into()),
            Err(Refusal { error, .. }) => Ok(Self::failed(error.code(), &error.to_string())),
        }
    }

    fn of_run(run: RunResult) -> Self {
        let RunResult { outcome, duration_ms, version, .. } = run;
        match outcome {
            Outcome::Succeeded { output } => {
                let version = version.map(|version| version.to_string());
                let result = serde_json::from_str(&output).unwrap_or(Value::String(output));
                Self::Completed { context: json!({"version": version, "duration_ms": duration_ms}), result }
            }
            Outcome::Failed { exception_type, exception_message, .. } => {
                Self::failed(&exception_type, &exception_message)
            }
        }
    }

    fn failed(kind: &str, message: &str) -> Self {
        Self::Failed { error: json!({"type": kind, "message": message}) }
    }
}

fn build_observation(run: RunId, workflow: &ToolId, state: WorkflowState) -> Result<ToolObservation, Error> {
    let is_error = matches!(state, WorkflowState::Failed { .. });
    let text = serde_json::to_string(&Observation { workflow_run_id: &run, workflow_id: workflow, state })
        .map_err(|error| Error::internal(error.to_string()))?;
    Ok(ToolObservation { text, is_error, invocation: Some(run), lacks: Vec::new() })
}
