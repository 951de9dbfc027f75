//! Support for an author's own tests, which `cargo test` runs without a sandbox: a context to call the tool with, and
//! responses to its requests. All state belongs to the thread, so that tests can run in parallel.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::bindings::lathe::tool::http as wire;
use crate::http::{ErrorCode, HttpError, Request, Response};
use crate::tools::{self, ToolCallError};
use crate::{
    Config, ContentBlock, ContentError, Context, InputError, InputErrorCode, LogMessage, Metadata, Question,
    StatusEvent, UserVariables,
};

pub(crate) type Exchange = u32;
type Answer = Box<dyn Fn(&Request) -> Result<Response, HttpError>>;
type CallAnswer = Box<dyn Fn(&str, Value) -> Result<String, ToolCallError>>;

#[derive(Default)]
struct World {
    answer: Option<Answer>,
    call_answer: Option<CallAnswer>,
    called: BTreeMap<Exchange, Result<String, ToolCallError>>,
    events: Vec<StatusEvent>,
    content: Vec<ContentBlock>,
    logs: Vec<LogMessage>,
    answers: BTreeMap<String, Value>,
    answered: BTreeMap<Exchange, Result<Response, HttpError>>,
    started: Exchange,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Returns the context of a direct invoke, without variables. Set the fields that the test needs.
pub fn context() -> Context {
    let metadata = Metadata {
        invocation_mode: "regular".into(),
        invocation_id: "0".repeat(24),
        tool_id: "0".repeat(24),
        tool_name: "tool".into(),
        version: "1.0.0".into(),
        organization: "organization".into(),
        deadline_ms: u64::MAX,
    };
    Context { metadata, config: Config::default(), conversation: None, user_variables: UserVariables::default() }
}

/// Sets the function that answers all later requests of this thread.
pub fn answer_requests(answer: impl Fn(&Request) -> Result<Response, HttpError> + 'static) {
    WORLD.with_borrow_mut(|world| world.answer = Some(Box::new(answer)));
}

/// Sets the function that answers all later calls of other tools by this thread, by the tool's name and the arguments.
pub fn answer_calls(answer: impl Fn(&str, Value) -> Result<String, ToolCallError> + 'static) {
    WORLD.with_borrow_mut(|world| world.call_answer = Some(Box::new(answer)));
}

/// Sets the result of the question with this key for this thread, in the shape of MCP. A question without a result is refused.
pub fn answer_question(key: impl Into<String>, result: Value) {
    WORLD.with_borrow_mut(|world| world.answers.insert(key.into(), result));
}

/// Returns the status events that this thread sent since the last call.
pub fn take_status_events() -> Vec<StatusEvent> {
    WORLD.with_borrow_mut(|world| std::mem::take(&mut world.events))
}

/// Returns the content blocks that this thread added since the last call.
pub fn take_content() -> Vec<ContentBlock> {
    WORLD.with_borrow_mut(|world| std::mem::take(&mut world.content))
}

/// Returns the log messages that this thread sent since the last call.
pub fn take_logs() -> Vec<LogMessage> {
    WORLD.with_borrow_mut(|world| std::mem::take(&mut world.logs))
}

#[expect(clippy::unnecessary_wraps, reason = "the host may refuse the block")]
pub(crate) fn add_content(block: ContentBlock) -> Result<(), ContentError> {
    WORLD.with_borrow_mut(|world| world.content.push(block));
    Ok(())
}

pub(crate) fn request_input(questions: &[(&str, Question)]) -> Result<Vec<String>, InputError> {
    let answer = |(key, _): &(&str, Question)| {
        let answer = WORLD.with_borrow(|world| world.answers.get(*key).map(Value::to_string));
        let missing = || format!("no test answers {key}: call lathe::testing::answer_question");
        answer.ok_or_else(|| InputError::new(InputErrorCode::Unavailable, missing()))
    };
    questions.iter().map(answer).collect()
}

pub(crate) fn send_log(message: LogMessage) {
    WORLD.with_borrow_mut(|world| world.logs.push(message));
}

pub(crate) fn send_status_event(event: &StatusEvent) {
    WORLD.with_borrow_mut(|world| world.events.push(event.clone()));
}

pub(crate) fn start(request: &wire::Request) -> Exchange {
    WORLD.with_borrow_mut(|world| {
        let answer = match &world.answer {
            Some(answer) => answer(&Request::of(request)),
            None => Err(refused("no test answers requests: call lathe::testing::answer_requests")),
        };
        world.started += 1;
        world.answered.insert(world.started, answer);
        world.started
    })
}

pub(crate) fn start_call(name: &str, arguments: &str) -> Exchange {
    WORLD.with_borrow_mut(|world| {
        let answer = match &world.call_answer {
            Some(answer) => answer(name, serde_json::from_str(arguments).unwrap_or_default()),
            None => Err(refused_call("no test answers calls of tools: call lathe::testing::answer_calls")),
        };
        world.started += 1;
        world.called.insert(world.started, answer);
        world.started
    })
}

pub(crate) fn finish_call(call: Exchange) -> Result<String, ToolCallError> {
    let answer = WORLD.with_borrow_mut(|world| world.called.remove(&call));
    answer.unwrap_or_else(|| Err(refused_call("this call was never started")))
}

pub(crate) fn wait(exchanges: &[Exchange], _timeout_ms: Option<u64>) -> Vec<Exchange> {
    exchanges.to_vec()
}

pub(crate) fn finish(exchange: Exchange) -> Result<wire::Response, wire::HttpError> {
    let answer = WORLD.with_borrow_mut(|world| world.answered.remove(&exchange));
    match answer.unwrap_or_else(|| Err(refused("this request was never started"))) {
        Ok(Response { status, headers, body }) => Ok(wire::Response { status, headers, body }),
        Err(HttpError { code, message }) => Err(wire::HttpError { code, message }),
    }
}

pub(crate) fn cancel(exchange: Exchange) {
    WORLD.with_borrow_mut(|world| {
        world.answered.remove(&exchange);
        world.called.remove(&exchange);
    });
}

fn refused_call(message: &str) -> ToolCallError {
    ToolCallError { code: tools::ErrorCode::Denied, kind: None, message: message.to_owned() }
}

fn refused(message: &str) -> HttpError {
    HttpError { code: ErrorCode::Denied, message: message.to_owned() }
}
