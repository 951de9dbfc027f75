//! `POST /v1/{organization}/tool/{tool_id}/version/{version}/invoke`: one to ten inputs run in parallel.

use axum::extract::State;
use axum::response;
use registry::{Constraint, InvocationSource, OperationKind, ToolId};
use runner::{Call, Conversation, Input, ResultPersistence, Subject};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{CallDepth, FromBody, InPath, Node, Repeatable};
use crate::openapi::{Operation, Tag, form};
use crate::routes::input::{inputs, inputs_example, inputs_form};
use crate::routes::results;
use crate::routes::versions::claimed_source;
use crate::work::{Job, Reply, Task, remembered};

const PERSISTENCES: [(&str, ResultPersistence); 3] = [
    ("ephemeral", ResultPersistence::Ephemeral),
    ("persisted-preferred", ResultPersistence::PersistedPreferred),
    ("persisted", ResultPersistence::Persisted),
];

/// `inputs` are the contract's, the rest is ours.
pub(crate) struct Request {
    inputs: Vec<Input>,
    result_persistence: ResultPersistence,
    source: Option<InvocationSource>,
}

pub(crate) fn operation() -> Operation {
    let operation = Operation::new("invoke-tool-version", Tag::Runs, "Invoke a version")
        .says(
            "Runs the highest live version that the constraint admits on one to ten inputs in parallel. Every input is \
            checked against the version's schema before any of them runs. Each run has a fresh instance, and its \
            record is written before it starts and before it is answered.",
        )
        .answers::<results::Response>(200, "How the runs ended; one that failed is a result, too.", results::example())
        .refuses(400, &["input_schema", "variable_missing", "component_rejected", "loop_detected"])
        .refuses(429, &["too_many_runs"])
        .refuses(503, &["overloaded"])
        .leads_to("get-tool-invocation", "invocation_id", "/invocation_results/0/invocation_id");
    remembered(operation)
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(constraint): InPath<Constraint>,
    CallDepth(depth): CallDepth,
    reply: Reply,
    Repeatable { request, once }: Repeatable<Request>,
) -> Result<response::Response, Error> {
    let Request { inputs, result_persistence, source } = request;
    let conversation = source.as_ref().and_then(conversation);
    let source = source.unwrap_or_else(|| InvocationSource::Direct { user_id: principal.user.to_string() });
    let task = Task { principal: principal.clone(), kind: OperationKind::Invoke, tool: tool.clone(), once };
    let subject = Subject::Version { tool, constraint };
    let call = Call { subject, principal, inputs, source, result_persistence, conversation, depth, operation: None };
    let invoker = app.clone();
    let invoke = move |job: Job| async move {
        let call = Call { operation: job.operation, ..call };
        results::run(invoker.invoker(), call, &job.events).await
    };
    reply.tracked(&app, task, invoke).await
}

impl FromBody for Request {
    const NAME: &'static str = "InvokeTool";

    fn form() -> Value {
        let persistence = form::said(
            form::default(form::or_null(form::one_of(&PERSISTENCES)), &json!("persisted-preferred")),
            "An output of more than 5,000 characters is kept out of the conversation's log under \
            `persisted-preferred`, and fails its input under `persisted`.",
        );
        json!({
            "type": "object",
            "required": ["inputs"],
            "properties": {
                "inputs": inputs_form(),
                "result_persistence": persistence,
                "invocation_source": claimed_source::form(),
            },
        })
    }

    fn example() -> Value {
        json!({
            "inputs": inputs_example(),
            "result_persistence": "persisted-preferred",
            "invocation_source": claimed_source::example(),
        })
    }

    fn from_body(body: &Node) -> Option<Self> {
        let inputs = inputs(body);
        let persistence = body.optional("result_persistence").and_then(|node| node.one_of(&PERSISTENCES));
        let source = body.optional("invocation_source").and_then(|node| claimed_source::read(&node));
        Some(Self { inputs: inputs?, result_persistence: persistence.unwrap_or_default(), source })
    }
}

/// What the tool is told of the conversation that the source names.
fn conversation(source: &InvocationSource) -> Option<Conversation> {
    match source {
        InvocationSource::RegularConversation { user_id, conversation_id, interaction_id, .. } => Some(Conversation {
            conversation_id: conversation_id.clone(),
            interaction_id: interaction_id.clone(),
            user_id: user_id.clone(),
        }),
        _ => None,
    }
}
