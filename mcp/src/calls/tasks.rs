//! The extension for tasks: a call whose client asks for the result later is a run, and so is the work of an agent that a client
//! answers.

use std::collections::BTreeMap;

use agents::{
    AgentRun, AgentRunLoop, AgentRunState, AgentStore, FinalAnswer, HumanQuestion, HumanRequestKind, HumanResponse,
    INPUT_UNAVAILABLE, ListedSource, ListedTool, NewSingleCall, OpenQuestion, RunCheckpoint, SingleCall,
};
use registry::{AgentRunId, HumanRequestId, TaskSupport};
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, DetailedTask, ErrorCode, InputRequests,
    JsonObject, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use runner::{Interaction, QuestionKind};
use serde_json::{Value, json};

use super::abilities::{find_kinds, refuse_missing};
use super::calling::{Calling, choose_output_form, find_client, find_pinned_component, is_fault, log_fault};
use super::dialogue::{self, Returned};
use super::request_state::BoundCall;
use super::result::{OutputForm, render_failure, render_record};
use super::scope::Scope;
use super::tool_call_request::ToolCallRequest;

/// The key of the question of a model.
const ANSWER: &str = "answer";
/// Bytes of the answer to a model.
const INPUT_BYTES_MAX: usize = 16 << 10;
/// Time after which a client asks for a task again.
const POLL_INTERVAL_MS: u64 = 1_000;
const INTERNAL: i32 = ErrorCode::INTERNAL_ERROR.0;

/// A request of a client about tasks of one agent.
pub struct Tasks<'a> {
    pub store: &'a AgentStore,
    pub calling: &'a Calling,
    pub scope: &'a Scope,
}

impl Tasks<'_> {
    /// Starts a task, if the tool and the client have them. `None` for a call whose client waits for the result, or for questions.
    pub async fn start(
        &self,
        listed: &ListedTool,
        request: &ToolCallRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let has_tasks = context.client_capabilities().is_some_and(|declared| declared.supports_tasks());
        match (find_task_support(listed), has_tasks) {
            (TaskSupport::Never, _) | (TaskSupport::Optional, false) => return Ok(None),
            (TaskSupport::Required, false) => return Err(refuse_missing_tasks()),
            (TaskSupport::Optional | TaskSupport::Required, true) => {}
        }
        let interaction = match (asks_first(listed), &request.state) {
            (true, None) if !find_kinds(context).is_empty() => return Ok(None),
            // A client that shows no questions answers none: a person finds them in the queue.
            (false, _) | (true, None) => Interaction::default(),
            (true, Some(_)) => self.read_answers(listed, request, context).await?,
        };
        let call = SingleCall {
            tool: listed.name.clone(),
            client: find_client(context),
            pinned: find_pinned_component(&context.meta)?,
        };
        let (input, names) = (request.arguments.clone(), self.scope.names.clone());
        let component = match &listed.source {
            ListedSource::Native(_) => None,
            ListedSource::Published { callable, .. } => Some(callable.version.component_digest),
        };
        let new = NewSingleCall { call, input, names, depth: self.scope.depth, interaction, component };
        let started = self.calling.agents.runs.start_single_call(&self.scope.principal, &self.scope.running, new).await;
        match started {
            Ok(work) => {
                let (task, run) = (self.render_task(work.run().0), work.run().0.id.clone());
                if let Err(error) = self.spawn_work(work) {
                    // The client calls again.
                    let cancelled = self.calling.agents.runs.cancel(&self.scope.principal, &run).await;
                    return cancelled.map_err(|error| log_fault(&error)).and(Err(error));
                }
                Ok(Some(CallToolResponse::Task(CreateTaskResult::new(task))))
            }
            Err(error) if is_fault(error.kind()) => Err(log_fault(&error)),
            Err(error) => Ok(Some(render_failure(error.code(), &error.to_string()).into())),
        }
    }

    /// Reads the answers of a client that was asked before the task.
    async fn read_answers(
        &self,
        listed: &ListedTool,
        request: &ToolCallRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<Interaction, ErrorData> {
        let returned = Returned { state: request.state.clone(), responses: request.responses.clone() };
        let bound = BoundCall { scope: self.scope, listed, arguments: &request.arguments };
        self.calling.dialogues.begin(find_kinds(context), returned, &bound).await
    }

    /// Works on a run in a task of the server, which its shutdown waits for.
    fn spawn_work(&self, work: AgentRunLoop) -> Result<(), ErrorData> {
        let spawned = self.calling.tasks.spawn(work.to_its_end());
        spawned.map(drop).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Finds a task of the user of the request.
    async fn find(&self, id: &str) -> Result<(AgentRun, RunCheckpoint), ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("Unknown task: {id}"), None);
        let id = AgentRunId::parse(id).map_err(|_| unknown())?;
        let Scope { principal, running, .. } = self.scope;
        let found = self.calling.agents.runs.find_own(principal, running, &id).await;
        found.map_err(|error| log_fault(&error))?.ok_or_else(unknown)
    }

    pub async fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let (run, checkpoint) = self.find(id).await?;
        let payload = match run.state {
            AgentRunState::Running => TaskPayload::Working,
            AgentRunState::Cancelled => TaskPayload::Cancelled,
            AgentRunState::Paused => TaskPayload::InputRequired { input_requests: list_requests(&checkpoint) },
            AgentRunState::Completed => TaskPayload::Completed { result: self.render_result(&run, &checkpoint).await? },
            AgentRunState::Failed => TaskPayload::Failed { error: render_error(&checkpoint) },
        };
        Ok(DetailedTask::new(self.render_task(&run), payload))
    }

    /// A run as a task. It is kept at least as long as the history.
    fn render_task(&self, run: &AgentRun) -> Task {
        let (created_at, updated_at) = (run.created_at.to_string(), run.updated_at.to_string());
        let task = Task::new(run.id.as_str(), TaskStatus::Working, created_at, updated_at);
        let kept = self.store.registry().history_retention().and_then(|time| u64::try_from(time.as_millis()).ok());
        let task = task.with_poll_interval_ms(POLL_INTERVAL_MS);
        match kept {
            Some(milliseconds) => task.with_ttl_ms(milliseconds),
            None => task,
        }
    }

    /// The result of a call is in its record; that of a run of a model is its answer.
    async fn render_result(&self, run: &AgentRun, checkpoint: &RunCheckpoint) -> Result<JsonObject, ErrorData> {
        let rendered = match (&checkpoint.single_call, checkpoint.recorded_call(), checkpoint.answer()) {
            (Some(SingleCall { tool, .. }), Some(invocation), _) => {
                let found = self.calling.agents.runs.record(&run.organization, invocation).await;
                let record = found.map_err(|error| log_fault(&error))?;
                let form = self.find_form(tool);
                match record.and_then(|record| render_record(record, form)) {
                    Some(rendered) => rendered,
                    None => render_failure("record_gone", "the record of the call was deleted"),
                }
            }
            (_, _, Some(answer)) => render_answer(answer),
            (_, _, None) => render_failure("result_missing", "the run ended without an answer"),
        };
        let rendered = serde_json::to_value(rendered).ok().and_then(|value| value.as_object().cloned());
        rendered.ok_or_else(|| ErrorData::internal_error("The server failed.", None))
    }

    /// The form of the output of a tool, as the agent has the tool now.
    fn find_form(&self, tool: &str) -> OutputForm {
        self.scope
            .catalogue
            .as_ref()
            .and_then(|catalogue| catalogue.find(tool))
            .map_or(OutputForm::Free, choose_output_form)
    }

    /// Answers questions of a task. Keys that are not open are ignored.
    pub async fn update(&self, id: &str, responses: BTreeMap<String, Value>) -> Result<(), ErrorData> {
        let (run, checkpoint) = self.find(id).await?;
        let Some(OpenQuestion { request, question, .. }) = checkpoint.open_question() else { return Ok(()) };
        if run.state != AgentRunState::Paused {
            return Ok(());
        }
        let of_request = |(key, result): (String, Value)| Some((split_key(request, &key)?.to_owned(), result));
        let mut results: JsonObject = responses.into_iter().filter_map(of_request).collect();
        let (runs, principal) = (&self.calling.agents.runs, &self.scope.principal);
        let resumed = if question.kind == HumanRequestKind::Question {
            let Some(result) = results.get(ANSWER) else { return Ok(()) };
            runs.answer_human_request(principal, request, parse_response(result)?).await
        } else {
            results.retain(|key, _| question.forms.iter().any(|form| form.key == *key));
            if results.is_empty() {
                return Ok(());
            }
            runs.fill_in(principal, request, &results).await
        };
        match resumed {
            Ok(Some(work)) => self.spawn_work(work),
            // Somebody else was faster.
            Ok(None) | Err(agents::Error::HumanRequestClosed) => Ok(()),
            Err(error @ agents::Error::HumanResponse { .. }) => Err(ErrorData::invalid_params(error.to_string(), None)),
            Err(error) if is_fault(error.kind()) => Err(log_fault(&error)),
            Err(error) => Err(ErrorData::internal_error(format!("{}: {error}", error.code()), None)),
        }
    }

    /// Cancels a task. One that has ended stays as it is.
    pub async fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let (run, _) = self.find(id).await?;
        let cancelled = self.calling.agents.runs.cancel(&self.scope.principal, &run.id).await;
        cancelled.map(drop).map_err(|error| log_fault(&error))
    }
}

fn find_task_support(listed: &ListedTool) -> TaskSupport {
    match &listed.source {
        ListedSource::Native(_) => TaskSupport::Never,
        ListedSource::Published { callable, .. } => callable.version.settings.task_support,
    }
}

fn asks_first(listed: &ListedTool) -> bool {
    match &listed.source {
        ListedSource::Native(_) => false,
        ListedSource::Published { callable, .. } => callable.version.settings.mcp.ask_first,
    }
}

fn refuse_missing_tasks() -> ErrorData {
    ErrorData::missing_required_client_capability(ClientCapabilities::builder().enable_tasks().build())
}

/// The key of a question within its task: the request, of which an answer is, and the key of the form.
fn join_key(request: &HumanRequestId, key: &str) -> String {
    format!("{request}/{key}")
}

fn split_key<'a>(request: &HumanRequestId, key: &'a str) -> Option<&'a str> {
    key.strip_prefix(request.as_str())?.strip_prefix('/')
}

/// The open questions of a task. A form that the protocol does not have is answered in the queue.
fn list_requests(checkpoint: &RunCheckpoint) -> InputRequests {
    let Some(OpenQuestion { request, question, .. }) = checkpoint.open_question() else {
        return InputRequests::new();
    };
    if question.kind == HumanRequestKind::Question {
        let form = serde_json::from_value(build_form(question)).ok();
        return form.map(|form| (join_key(request, ANSWER), form)).into_iter().collect();
    }
    let rendered =
        |form: &runner::Question| Some((join_key(request, &form.key), dialogue::render_question(form).ok()?));
    question.forms.iter().filter_map(rendered).collect()
}

/// The question of a model as a form.
fn build_form(question: &HumanQuestion) -> Value {
    let mut input = json!({"type": "string", "title": "Answer"});
    if !question.options.is_empty() {
        input["enum"] = json!(question.options);
    }
    let approved = json!({"type": "boolean", "title": "Approved"});
    let schema = json!({"type": "object", "properties": {"human_input": input, "approved": approved}});
    let message = match &question.context_summary {
        Some(summary) => format!("{}\n\n{summary}", question.question),
        None => question.question.clone(),
    };
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

/// The answer to the question of a model.
fn parse_response(result: &Value) -> Result<HumanResponse, ErrorData> {
    if !runner::is_result(QuestionKind::Form, result) {
        return Err(ErrorData::invalid_params(
            format!("inputResponses/{ANSWER}: should be the result of a form"),
            None,
        ));
    }
    let content = &result["content"];
    if content["human_input"].as_str().is_some_and(|text| text.len() > INPUT_BYTES_MAX) {
        let message = format!("inputResponses/{ANSWER}: `human_input` has at most {INPUT_BYTES_MAX} bytes");
        return Err(ErrorData::invalid_params(message, None));
    }
    let human_input = content["human_input"].as_str().map(str::to_owned);
    let approved = content["approved"].as_bool();
    let approved = if result["action"] == "accept" { approved } else { Some(false) };
    Ok(HumanResponse { human_input, approved, forms: None })
}

fn render_answer(answer: &FinalAnswer) -> CallToolResult {
    let mut rendered = CallToolResult::success(vec![rmcp::model::ContentBlock::text(answer.answer.clone())]);
    rendered.structured_content = Some(json!(answer));
    rendered
}

/// The error of a task that failed.
fn render_error(checkpoint: &RunCheckpoint) -> JsonObject {
    let failure = checkpoint.failure();
    let code = failure.map_or("abandoned", |failure| failure.code.as_str());
    let message = failure.map_or("no server went on with the task in time", |failure| failure.message.as_str());
    let number = if code == INPUT_UNAVAILABLE { refuse_missing(&[]).code.0 } else { INTERNAL };
    let fields = [("code", json!(number)), ("message", json!(message)), ("data", json!({"type": code}))];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
