//! `tools/call`: one run of a tool, through the same steps as every other call.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use std::fmt::Display;
use std::pin::pin;
use std::str::FromStr as _;

use agents::{AgentServices, ListedSource, ListedTool};
use api_kit::request_identity::RequestIdentity;
use api_kit::tasks::Tasks;
use axum::http::request::Parts;
use futures_util::future::join;
use registry::{AgentCall, AgentProtocol, CallVia, ClientName, Digest, Principal};
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CallToolResult, LoggingLevel, RequestMetaObject};
use rmcp::service::RequestContext;
use runner::{
    Call, ErrorKind, Input, Interaction, Invoker, Refusal, ResultPersistence, RunResult, Subject, ToolCaller,
};
use tokio_util::sync::CancellationToken;

use super::abilities::{find_kinds, refuse_missing};
use super::dialogue::{Dialogues, Open, Returned, check_bounds};
use super::events::EventRelay;
use super::listing::COMPONENT;
use super::request_state::BoundCall;
use super::result::{OutputForm, render_failure, render_refused_call, render_run};
use super::scope::Scope;
use super::session_questions;
use super::tool_call_request::ToolCallRequest;

/// The error of a call whose user lost the access while a question was open.
const RIGHTS_ENDED: &str = "The access of this user has ended.";

/// The parts of a server that run tools.
#[derive(Clone)]
pub struct Calling {
    pub invoker: Invoker,
    pub agents: AgentServices,
    pub tasks: Tasks,
    pub dialogues: Dialogues,
}

/// The context of a request, with the level of log messages that its session set.
pub struct Asked {
    pub context: RequestContext<RoleServer>,
    pub level: Option<LoggingLevel>,
}

/// The end of an attempt of a call.
type Ended = Result<RunResult, Refusal>;

impl Calling {
    /// Runs a tool of the catalogue. The run is cancelled when the client cancels the request or goes away. Questions of the tool
    /// are answered by a later request, or in a session while the call waits.
    pub async fn call(
        &self,
        listed: ListedTool,
        mut request: ToolCallRequest,
        asked: Asked,
    ) -> Result<CallToolResponse, ErrorData> {
        let Asked { context, level } = asked;
        let scope = Scope::of(&context.extensions)?;
        let returned = request.take_returned();
        let bound = BoundCall { scope, listed: &listed, arguments: &request.arguments };
        let has_session = context.meta.protocol_version().is_none();
        let returned = if has_session { Returned::default() } else { returned };
        let mut interaction = self.dialogues.begin(find_kinds(&context), returned, &bound).await?;
        let mut relay = EventRelay::of(&context, level)?;
        let mut principal = scope.principal.clone();
        loop {
            let cancelled = CancellationToken::new();
            let client = CallingClient {
                context: &context,
                principal: principal.clone(),
                cancelled,
                interaction: interaction.clone(),
            };
            let ended = self.attempt(build_call(&bound, client)?, &context, &mut relay).await?;
            let open = match find_open_questions(&ended) {
                None => return render_end(ended, &listed, has_session),
                Some(Ok(open)) => open,
                Some(Err(text)) => return Ok(render_failure("input_invalid", &text).into()),
            };
            if !has_session {
                return Ok(self.dialogues.ask(interaction, open, &bound)?.into());
            }
            // In this order: an answer that arrives right after the cancellation begins no run.
            let answers = tokio::select! {
                biased;
                () = context.ct.cancelled() => return Ok(render_failure("cancelled", "the client cancelled the call").into()),
                answers = session_questions::ask(&context.peer, open) => answers,
            };
            match answers {
                Ok(answers) => interaction.answers.extend(answers),
                Err(unanswered) => return Ok(render_failure("input_unanswered", &unanswered.to_string()).into()),
            }
            check_bounds(&interaction.answers)?;
            interaction.round += 1;
            // The answer may have taken minutes, in which the user's rights can have changed.
            principal = scope.rights.check().await.map_err(|_| ErrorData::invalid_params(RIGHTS_ENDED, None))?;
        }
    }

    /// Runs a call of a turn. Its tool can ask nothing.
    pub async fn run(&self, call: Call, form: OutputForm, asked: Asked) -> Result<CallToolResult, ErrorData> {
        let Asked { context, level } = asked;
        match self.attempt(call, &context, &mut EventRelay::of(&context, level)?).await? {
            Ok(result) => Ok(render_run(result, form)),
            Err(Refusal { error: runner::Error::ToolNotPresented { tool, .. }, .. }) => Err(refuse_unknown_tool(&tool)),
            Err(refusal) => render_refusal(refusal, form),
        }
    }

    /// Runs the tool once, from its start. The task of the request carries the run to its end, also when the client goes away.
    pub async fn attempt(
        &self,
        call: Call,
        context: &RequestContext<RoleServer>,
        relay: &mut EventRelay,
    ) -> Result<Ended, ErrorData> {
        let cancelled = call.cancelled.clone();
        let (sender, events) = relay.open_channel();
        let running = self.tasks.track(Box::pin(self.invoker.try_invoke(call, sender)));
        let running = running.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let has_ended = CancellationToken::new();
        let running = async {
            let ended = running.await;
            has_ended.cancel();
            ended
        };
        let mut ending = pin!(join(running, relay.send_until(&has_ended, events)));
        let (ended, ()) = tokio::select! {
            ended = &mut ending => ended,
            () = context.ct.cancelled() => {
                cancelled.cancel();
                ending.await
            }
        };
        match ended {
            Ok(mut results) => {
                note_results(context, &results);
                results.pop().map(Ok).ok_or_else(|| ErrorData::internal_error("the call has no result", None))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }
}

/// Notes a run and its end for the request log: results of failed runs have the status of success.
fn note_results(context: &RequestContext<RoleServer>, results: &[RunResult]) {
    let identity = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<RequestIdentity>());
    if let Some(identity) = identity {
        identity.set_results(results);
    }
}

/// The questions that ended an attempt: those of the tool, or that for a confirmation.
fn find_open_questions(ended: &Ended) -> Option<Result<Open, String>> {
    match ended {
        Ok(result) if result.asked.questions.is_empty() => None,
        Ok(result) => Some(Open::new(result.invocation_id.clone(), result.asked.questions.clone())),
        Err(Refusal { error: runner::Error::ConfirmationAsked(question), records, .. }) => {
            Some(Open::new(records.first()?.clone(), vec![(**question).clone()]))
        }
        Err(_) => None,
    }
}

/// Renders the end of a call. In sessions, clients have no error for what they did not declare.
fn render_end(ended: Ended, listed: &ListedTool, has_session: bool) -> Result<CallToolResponse, ErrorData> {
    match ended {
        Ok(result) => {
            let lacked = result.asked.lacked(&result.outcome);
            if !lacked.is_empty() && !has_session {
                return Err(refuse_missing(lacked));
            }
            Ok(render_run(result, choose_output_form(listed)).into())
        }
        Err(refusal) => Ok(render_refusal(refusal, choose_output_form(listed))?.into()),
    }
}

/// Renders a refused call. A fault of the server is an error of the protocol, unless results of the tool tell success from failure.
fn render_refusal(refusal: Refusal, form: OutputForm) -> Result<CallToolResult, ErrorData> {
    if is_fault(refusal.error.kind()) && form != OutputForm::Envelope {
        return Err(log_fault(&refusal.error));
    }
    Ok(render_refused_call(refusal, form))
}

/// The client that calls a tool, for its user.
pub struct CallingClient<'a> {
    pub context: &'a RequestContext<RoleServer>,
    /// The user with the present grants.
    pub principal: Principal,
    pub cancelled: CancellationToken,
    pub interaction: Interaction,
}

/// Makes the call of a tool.
pub fn build_call(bound: &BoundCall<'_>, client: CallingClient<'_>) -> Result<Call, ErrorData> {
    let CallingClient { context, principal, cancelled, interaction } = client;
    let BoundCall { scope, listed, arguments } = *bound;
    let mut pinned: Vec<_> = find_pinned_component(&context.meta)?.into_iter().collect();
    let (subject, result_persistence) = match &listed.source {
        ListedSource::Native(tool) => (Subject::Native(tool.clone()), ResultPersistence::default()),
        ListedSource::Published { callable, assignment, api } => {
            pinned.extend(assignment.component_digest);
            (Subject::of(callable, api.as_ref()), assignment.result_persistence)
        }
    };
    let via = CallVia::Agent(build_agent_call(scope, context));
    let caller = ToolCaller { via, names: scope.names.clone(), ..ToolCaller::direct(principal) };
    Ok(Call {
        pinned,
        human_intervention: listed.human_intervention(&scope.running),
        result_persistence,
        depth: scope.depth,
        cancelled,
        interaction,
        ..Call::new(subject, caller, vec![Input::of(arguments.clone())])
    })
}

fn build_agent_call(scope: &Scope, context: &RequestContext<RoleServer>) -> AgentCall {
    let running = &scope.running;
    AgentCall {
        agent: running.agent.id.clone(),
        revision: running.revision.deployment.number,
        protocol: AgentProtocol::Mcp,
        client: find_client(context),
        turn: None,
    }
}

/// Refuses the name of a tool that the client cannot call.
pub fn refuse_unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

/// The client's name. A request of the present version has it or not; a session has it from its beginning.
pub fn find_client(context: &RequestContext<RoleServer>) -> Option<ClientName> {
    let named = match context.meta.protocol_version() {
        Some(_) => context.meta.client_info(),
        None => context.client_info(),
    };
    named.and_then(|client| ClientName::of(&client.name, &client.version))
}

/// The component that the client pins in `_meta`.
pub fn find_pinned_component(meta: &RequestMetaObject) -> Result<Option<Digest>, ErrorData> {
    let Some(pinned) = meta.get(COMPONENT) else { return Ok(None) };
    let digest = pinned.as_str().and_then(|text| Digest::from_str(text).ok());
    let wrong = || ErrorData::invalid_params(format!("_meta.{COMPONENT} should be the digest of a component"), None);
    digest.map(Some).ok_or_else(wrong)
}

pub fn choose_output_form(listed: &ListedTool) -> OutputForm {
    let is_described = match &listed.source {
        ListedSource::Native(tool) if tool.has_envelope => return OutputForm::Envelope,
        ListedSource::Native(_) => true,
        ListedSource::Published { .. } => listed.output_schema().is_some(),
    };
    if is_described { OutputForm::Described } else { OutputForm::Free }
}

pub fn is_fault(kind: ErrorKind) -> bool {
    kind == ErrorKind::Internal
}

/// The error of a request that failed because of the server. Its cause is logged only.
pub fn log_fault(error: &impl Display) -> ErrorData {
    tracing::error!(%error, "a call of an MCP client failed");
    ErrorData::internal_error("The server failed.", None)
}
