//! `POST /v1/{organization}/tool/{tool_id}/version/{version}/invoke`: runs a version on one to ten inputs in parallel.
//! `/tool/by-name/{tool_name}/version/{version}/invoke` does the same for a caller that knows only the tool's name.

use api_kit::call_depth::CallDepth;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Decoder as _, Fields, FromBody, Idempotent, InPath, OneOf};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::DIGEST;
use axum::extract::State;
use axum::response;
use registry::{Constraint, Digest, InvocationSource, OperationKind, Principal, ToolId, ToolName};
use runner::{Call, Conversation, Depth, Input, Invoker, ResultPersistence, Subject, ToolCaller};
use serde_json::{Value, json};

use crate::routes::inputs::{inputs, inputs_example};
use crate::routes::results::run;
use crate::routes::versions::claimed_source;
use crate::sections;
use crate::wire::{InvocationResults, results_example};
use crate::work::{OperationRequest, Reply, WorkContext, with_operation_responses};

const PERSISTENCES: OneOf<ResultPersistence> = OneOf(&[
    ("ephemeral", ResultPersistence::Ephemeral),
    ("persisted-preferred", ResultPersistence::PersistedPreferred),
    ("persisted", ResultPersistence::Persisted),
]);

const PINNED: &str =
    "The digest that the component of the version must have. The call of a version with another one is refused.";

/// Fields besides `inputs` are not in the contract.
pub(crate) struct Request {
    inputs: Vec<Input>,
    result_persistence: ResultPersistence,
    source: Option<InvocationSource>,
    pinned: Option<Digest>,
}

pub(crate) fn operation() -> OperationDoc {
    describe_operation(OperationDoc::new("invoke-tool-version", sections::RUNS, "Invoke a version"))
}

pub(crate) fn operation_by_name() -> OperationDoc {
    describe_operation(OperationDoc::new(
        "invoke-tool-version-by-name",
        sections::RUNS,
        "Invoke a version by the tool's name",
    ))
}

fn describe_operation(operation: OperationDoc) -> OperationDoc {
    let operation = operation
        .description(
            "Runs the highest live version that the constraint admits, on one to ten inputs in parallel. The server checks \
            every input against the version's schema before the first run starts. Each run has a new instance. Its \
            record is written before the run starts, and again before the response.",
        )
        .returns::<InvocationResults>(200, "The results of the runs. A failed run is a result, too.", results_example())
        .errors(400, &["input_schema", "variable_missing", "component_rejected", "loop_detected", "invalid_value"])
        .errors(403, &["confirmation_missing"])
        .errors(404, &["version_deprecated"])
        .errors(409, &["digest_differs", "invocation_already_finished"])
        .errors(429, &["too_many_runs"])
        .errors(503, &["overloaded", "process_lost"])
        .links_to("get-tool-invocation", "invocation_id", "/invocation_results/0/invocation_id");
    with_operation_responses(operation)
}

pub(crate) async fn handle(
    State(invoker): State<Invoker>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(constraint): InPath<Constraint>,
    CallDepth(depth): CallDepth,
    reply: Reply,
    request: Idempotent<Request>,
) -> Result<response::Response, Error> {
    Invocation { invoker, principal, tool, constraint, depth }.respond(reply, request).await
}

pub(crate) async fn handle_by_name(
    State(invoker): State<Invoker>,
    Caller(principal): Caller,
    InPath(name): InPath<ToolName>,
    InPath(constraint): InPath<Constraint>,
    CallDepth(depth): CallDepth,
    reply: Reply,
    request: Idempotent<Request>,
) -> Result<response::Response, Error> {
    let tool = invoker.tool_named(&principal, &name).await?.ok_or(Error::NotFound)?;
    reply.note_tool(&tool);
    Invocation { invoker, principal, tool, constraint, depth }.respond(reply, request).await
}

/// A call of a version.
struct Invocation {
    invoker: Invoker,
    principal: Principal,
    tool: ToolId,
    constraint: Constraint,
    depth: Depth,
}

impl Invocation {
    async fn respond(self, reply: Reply, request: Idempotent<Request>) -> Result<response::Response, Error> {
        let Self { invoker, principal, tool, constraint, depth } = self;
        let Idempotent { request: Request { inputs, result_persistence, source, pinned }, once } = request;
        let operation = OperationRequest {
            principal: principal.clone(),
            kind: OperationKind::Invoke,
            tool: tool.clone(),
            once,
            request: None,
        };
        let subject = Subject::Version { tool, constraint };
        let direct = ToolCaller::direct(principal);
        let caller = match source {
            Some(source) => ToolCaller { conversation: find_conversation(&source), source, ..direct },
            None => direct,
        };
        let pinned = pinned.into_iter().collect();
        let call = Call { pinned, result_persistence, depth, ..Call::new(subject, caller, inputs) };
        let invoke = move |context: WorkContext| async move {
            let call = Call { operation: context.operation, ..call };
            run(&invoker, call, &context.events).await
        };
        reply.respond_as_operation(operation, invoke).await
    }
}

impl FromBody for Request {
    const NAME: &'static str = "InvokeTool";

    fn example() -> Value {
        json!({
            "inputs": inputs_example(),
            "result_persistence": "persisted-preferred",
            "invocation_source": claimed_source::example(),
        })
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let inputs = fields.read_required("inputs", inputs());
        let persistence = fields.read_optional(
            "result_persistence",
            PERSISTENCES
                .described(
                    "The handling of an output of more than 5,000 characters: `persisted-preferred` keeps it out of the \
                    conversation's log, and `persisted` fails its run.",
                )
                .with_default("persisted-preferred"),
        );
        let source = fields.read_optional("invocation_source", claimed_source::decoder());
        let pinned = fields.read_optional("component_digest", DIGEST.described(PINNED));
        Some(Self { inputs: inputs?, result_persistence: persistence.unwrap_or_default(), source, pinned })
    }
}

/// The conversation of the source, as the tool receives it.
fn find_conversation(source: &InvocationSource) -> Option<Conversation> {
    match source {
        InvocationSource::RegularConversation { user_id, conversation_id, interaction_id, .. } => Some(Conversation {
            conversation_id: conversation_id.clone(),
            interaction_id: interaction_id.clone(),
            user_id: user_id.clone(),
        }),
        _ => None,
    }
}
