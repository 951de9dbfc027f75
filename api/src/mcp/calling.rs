//! `tools/call`: one run of a tool, through the same steps as every other call.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use std::str::FromStr as _;
use std::sync::Arc;

use registry::{AgentCall, AgentProtocol, ClientName, Constraint, Digest, InvocationMode, InvocationSource};
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, LoggingLevel, RequestMetaObject};
use rmcp::service::RequestContext;
use runner::{
    Call, CallOrigin, Catalogue, Depth, EventSender, Input, Invoker, ListedSource, ListedTool, Refusal, ResultPersistence, Subject,
};
use tokio_util::sync::CancellationToken;

use super::events::EventRelay;
use super::exposure::{Called, Exposed};
use super::listing::{COMPONENT, is_of_object};
use super::result::{OutputForm, of_refusal, of_run};
use super::scope::Scope;
use crate::tasks::Tasks;

/// The parts of a server that run tools.
#[derive(Clone)]
pub(crate) struct Calling {
    pub invoker: Invoker,
    pub tasks: Tasks,
}

/// The context of a request, with the level of log messages that its session set.
pub(crate) struct Asked {
    pub context: RequestContext<RoleServer>,
    pub level: Option<LoggingLevel>,
}

impl Calling {
    /// Runs a tool of the catalogue. The run is cancelled when the client cancels the request or goes away.
    pub async fn call(
        &self,
        catalogue: &Arc<Catalogue>,
        request: CallToolRequestParams,
        asked: Asked,
    ) -> Result<CallToolResult, ErrorData> {
        let (listed, request) = match Exposed(catalogue).called(request)? {
            Called::Tool(listed, request) => (listed, request),
            Called::Failed(result) => return Ok(result),
        };
        let (scope, cancelled) = (Scope::of(&asked.context.extensions)?, CancellationToken::new());
        let call = call(&listed, request, Caller { scope, context: &asked.context, cancelled })?;
        self.run(call, output_form(&listed), asked).await
    }

    /// Runs a call with one input.
    pub(super) async fn run(&self, call: Call, form: OutputForm, asked: Asked) -> Result<CallToolResult, ErrorData> {
        let Asked { context, level } = asked;
        let (mut relay, cancelled) = (EventRelay::of(&context, level), call.cancelled.clone());
        let (sender, mut events) = EventSender::channel();
        let invoker = self.invoker.clone();
        let running = self.tasks.spawn(async move { invoker.try_invoke(call, sender).await });
        let mut running = running.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let ended = loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => relay.send(event).await,
                ended = &mut running => break ended,
                () = context.ct.cancelled(), if !cancelled.is_cancelled() => cancelled.cancel(),
            }
        };
        let results = ended.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        match results {
            Ok(mut results) => {
                let result = results.pop().ok_or_else(|| ErrorData::internal_error("the call has no result", None))?;
                Ok(of_run(result, form))
            }
            Err(refusal) if is_fault(&refusal.error) => Err(fault(&refusal.error)),
            Err(Refusal { error: runner::Error::ToolNotPresented { tool, .. }, .. }) => Err(unknown_tool(&tool)),
            Err(refusal) => Ok(of_refusal(&refusal)),
        }
    }
}

/// The caller of a tool.
struct Caller<'a> {
    scope: &'a Scope,
    context: &'a RequestContext<RoleServer>,
    cancelled: CancellationToken,
}

fn call(listed: &ListedTool, request: CallToolRequestParams, caller: Caller<'_>) -> Result<Call, ErrorData> {
    let Caller { scope, context, cancelled } = caller;
    let mut pinned: Vec<_> = pinned(&context.meta)?.into_iter().collect();
    let (subject, result_persistence) = match &listed.source {
        ListedSource::Native(tool) => (Subject::Native(tool.clone()), ResultPersistence::default()),
        ListedSource::Published { callable, assignment } => {
            pinned.extend(assignment.component_digest);
            let version = &callable.version.version;
            let constraint = Constraint::parse(&format!("=={version}"));
            let constraint = constraint.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            (Subject::Version { tool: callable.tool.id.clone(), constraint }, assignment.result_persistence)
        }
    };
    Ok(Call {
        subject,
        principal: scope.principal.clone(),
        inputs: vec![input(request)],
        source: InvocationSource::Direct { user_id: scope.principal.user.to_string() },
        agent_call: Some(agent_call(scope, context)),
        pinned,
        result_persistence,
        conversation: None,
        depth: Depth::default(),
        origin: CallOrigin::Client,
        operation: None,
        cancelled,
    })
}

pub(super) fn input(request: CallToolRequestParams) -> Input {
    Input {
        input_parameters: request.arguments.unwrap_or_default(),
        invocation_mode: InvocationMode::Regular,
        nonsensitive_user_variables: std::collections::BTreeMap::new(),
        sensitive_user_variables: std::collections::BTreeMap::new(),
    }
}

fn agent_call(scope: &Scope, context: &RequestContext<RoleServer>) -> AgentCall {
    let running = &scope.running;
    AgentCall {
        agent: running.agent.id.clone(),
        revision: running.revision.deployment.number,
        protocol: AgentProtocol::Mcp,
        client: client(context),
        turn: None,
    }
}

/// Refuses the name of a tool that the client cannot call.
pub(super) fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

/// The client's name. A request of the present version has it or not; a session has it from its beginning.
pub(super) fn client(context: &RequestContext<RoleServer>) -> Option<ClientName> {
    let named = match context.meta.protocol_version() {
        Some(_) => context.meta.client_info(),
        None => context.client_info(),
    };
    named.and_then(|client| ClientName::of(&client.name, &client.version))
}

/// The component that the client pins in `_meta`.
pub(super) fn pinned(meta: &RequestMetaObject) -> Result<Option<Digest>, ErrorData> {
    let Some(pinned) = meta.get(COMPONENT) else { return Ok(None) };
    let digest = pinned.as_str().and_then(|text| Digest::from_str(text).ok());
    let wrong = || ErrorData::invalid_params(format!("_meta.{COMPONENT} should be the digest of a component"), None);
    digest.map(Some).ok_or_else(wrong)
}

fn output_form(listed: &ListedTool) -> OutputForm {
    let is_described = match &listed.source {
        ListedSource::Native(_) => true,
        ListedSource::Published { callable, .. } => {
            callable.version.settings.output_schema.as_ref().is_some_and(is_of_object)
        }
    };
    if is_described { OutputForm::Described } else { OutputForm::Free }
}

fn is_fault(error: &runner::Error) -> bool {
    error.kind() == runner::ErrorKind::Internal
}

/// The error of a request that failed because of the server. Its cause is logged only.
fn fault(error: &runner::Error) -> ErrorData {
    tracing::error!(%error, "a call of an MCP client failed");
    ErrorData::internal_error("The server failed.", None)
}
