//! `POST /v1/{organization}/conversation/{conversation_id}/turn/{turn_id}/invoke`: runs a tool that the turn presented.

use std::sync::Arc;

use agents::{AgentServices, TurnCall};
use api_kit::call_depth::CallDepth;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Decoder as _, Fields, FromBody, Idempotent, InPath, Text};
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::response::Response;
use registry::{AgentProtocol, ConversationId, OperationKind, TurnId};
use runner::{Call, Input};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::routes::inputs::turn_inputs;
use crate::routes::results::run;
use crate::sections;
use crate::wire::{InvocationResults, results_example};
use crate::work::{OperationRequest, Reply, WorkContext, with_operation_responses};

/// Characters of a tool's name for models, and more than those of an id.
const NAME_CHARACTERS_MAX: usize = 64;

const TOOL: Text<String> = Text::new(
    || json!({"type": "string", "maxLength": NAME_CHARACTERS_MAX, "pattern": "^[A-Za-z0-9_-]+$"}),
    |text| {
        let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_right = !text.is_empty() && text.len() <= NAME_CHARACTERS_MAX && text.chars().all(is_of_a_name);
        is_right.then(|| text.to_owned()).ok_or_else(|| "should be 1 to 64 characters of a-z A-Z 0-9 _ -".to_owned())
    },
);

pub(crate) struct Request {
    tool: String,
    inputs: Vec<Input>,
}

pub(crate) fn operation() -> OperationDoc {
    let operation = OperationDoc::new("invoke-in-turn", sections::AGENTS, "Invoke a tool in a turn")
        .description(
            "Runs a tool that the turn presented, in the version that it presented, on one to ten inputs in parallel and in the \
            mode of the conversation. A tool that the turn did not present is refused, even if the state has it now. \
            `forward_call` and `get_tool_call_status` can be called in every turn. The result persistence is that of the \
            specification. An idempotency key counts for the tools that the turn presented.",
        )
        .returns::<InvocationResults>(200, "The results of the runs. A failed run is a result, too.", results_example())
        .errors(400, &["input_schema", "variable_missing", "component_rejected", "loop_detected", "invalid_value"])
        .errors(403, &["confirmation_missing", "rule_forbids"])
        .errors(404, &["tool_not_presented", "version_deprecated"])
        .errors(409, &["conversation_ended", "digest_differs", "invocation_already_finished"])
        .errors(429, &["too_many_runs"])
        .errors(503, &["overloaded", "process_lost"])
        .links_to("get-tool-invocation", "invocation_id", "/invocation_results/0/invocation_id");
    with_operation_responses(operation)
}

pub(crate) async fn handle(
    State(services): State<AgentServices>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
    InPath(turn): InPath<TurnId>,
    CallDepth(depth): CallDepth,
    reply: Reply,
    request: Idempotent<Request>,
) -> Result<Response, Error> {
    let Idempotent { request: Request { tool, inputs }, once } = request;
    let (turns, invoker) = (&services.turns, services.invoker().clone());
    let turn = turns.turn(&principal, &conversation, &turn).await?.ok_or(Error::NotFound)?;
    if turn.conversation.ended_at.is_some() {
        return Err(agents::Error::ConversationEnded.into());
    }
    let operation = turn.find(&tool).map(|presented| OperationRequest {
        principal: principal.clone(),
        kind: OperationKind::Invoke,
        tool: presented.spec.tool_id.clone(),
        once,
        request: None,
    });
    let call = turns.turn_call(TurnCall {
        turn: Arc::new(turn),
        tool,
        principal,
        inputs,
        protocol: AgentProtocol::Rest,
        client: None,
        pinned: None,
        depth,
        cancelled: CancellationToken::new(),
    });
    let invoke = move |context: WorkContext| async move {
        let call = Call { operation: context.operation, ..call };
        run(&invoker, call, &context.events).await
    };
    match operation {
        Some(operation) => {
            reply.note_tool(&operation.tool);
            reply.respond_as_operation(operation, invoke).await
        }
        // An operation belongs to a tool of an author.
        None => reply.respond(invoke).await,
    }
}

impl FromBody for Request {
    const NAME: &'static str = "InvokeInTurn";

    fn example() -> Value {
        json!({"tool": "search_orders", "inputs": [{"input_parameters": {"text": "hello"}}]})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let tool =
            fields.read_required("tool", TOOL.described("The name of the tool as the turn presented it, or its id."));
        let inputs = fields.read_required("inputs", turn_inputs());
        Some(Self { tool: tool?, inputs: inputs? })
    }
}
