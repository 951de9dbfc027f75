//! `POST /v1/{organization}/tool/{tool_id}/version/{version}/invoke`: one to ten inputs run in parallel.

use axum::extract::State;
use axum::response;
use registry::{Constraint, InvocationSource, ToolId};
use runner::{Call, Conversation, Input, ResultPersistence, Subject};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::routes::input::inputs;
use crate::routes::names::object_id;
use crate::routes::results;
use crate::work::Reply;

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

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(constraint): InPath<Constraint>,
    reply: Reply,
    Body(request): Body<Request>,
) -> Result<response::Response, Error> {
    let Request { inputs, result_persistence, source } = request;
    let conversation = source.as_ref().and_then(conversation);
    let source = source.unwrap_or_else(|| InvocationSource::Direct { user_id: principal.user.to_string() });
    let subject = Subject::Version { tool, constraint };
    let call = Call { subject, principal, inputs, source, result_persistence, conversation };
    let invoker = app.invoker().clone();
    reply.with(&app, |events| async move { results::run(&invoker, call, &events).await }).await
}

impl FromBody for Request {
    fn from_body(body: &Node) -> Option<Self> {
        let inputs = inputs(body);
        let persistence = body.optional("result_persistence").and_then(|node| node.one_of(&PERSISTENCES));
        let source = body.optional("invocation_source").and_then(|node| source(&node));
        Some(Self { inputs: inputs?, result_persistence: persistence.unwrap_or_default(), source })
    }
}

/// A source that a caller may claim: a conversation or a simulation.
fn source(node: &Node) -> Option<InvocationSource> {
    let source = match serde_json::from_value(node.value().clone()) {
        Ok(source) => source,
        Err(error) => return node.note("value_error", &error.to_string()),
    };
    let ids = match &source {
        InvocationSource::RegularConversation { conversation_id, interaction_id, .. } => {
            [conversation_id, interaction_id]
        }
        InvocationSource::SimulationConversation { simulation_unit_test_set_run_id, unit_test_id, .. } => {
            [simulation_unit_test_set_run_id, unit_test_id]
        }
        InvocationSource::Direct { .. } | InvocationSource::BranchTest { .. } => {
            return node.note("enum", "type should be regular-conversation or simulation-conversation");
        }
    };
    let checked = ids.into_iter().flatten().try_for_each(|id| object_id(id).map(drop));
    match checked {
        Ok(()) => Some(source),
        Err(error) => node.note("value_error", &format!("an id {error}")),
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
