//! Calls within a turn of a conversation, which `_meta` of the request names. The tools are those that the turn presented.

use std::sync::Arc;

use agents::{AgentStore, Turn, TurnCall, Turns, describes_objects};
use registry::{AgentProtocol, ConversationId, TurnId};
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::RequestMetaObject;
use rmcp::service::RequestContext;
use runner::{Call, Input};
use tokio_util::sync::CancellationToken;

use super::calling::{find_client, find_pinned_component};
use super::result::OutputForm;
use super::scope::Scope;
use super::tool_call_request::ToolCallRequest;

/// Keys of `_meta` that tell the turn of a call, and its conversation.
const TURN: &str = "dev.lathe/turn";
const CONVERSATION: &str = "dev.lathe/conversation";

/// Finds the turn of a request, if it names one. A turn of another user, agent or conversation is unknown.
pub async fn find_turn(
    store: &AgentStore,
    scope: &Scope,
    meta: &RequestMetaObject,
) -> Result<Option<Arc<Turn>>, ErrorData> {
    let (turn, conversation) = (read_text(meta, TURN)?, read_text(meta, CONVERSATION)?);
    let Some(named) = turn else {
        return match conversation {
            None => Ok(None),
            Some(_) => Err(refuse_turn(format!("_meta.{CONVERSATION} needs _meta.{TURN} beside it"))),
        };
    };
    let unknown = || refuse_turn(format!("Unknown turn: {named}"));
    let id = TurnId::parse(named).map_err(|_| unknown())?;
    let found = store.conversations().get_turn(&scope.principal, &id).await.map_err(|error| {
        tracing::error!(%error, "a turn cannot be read");
        ErrorData::internal_error("The server failed.", None)
    })?;
    let turn = found.filter(|turn| turn.conversation.agent == scope.running.agent.id).ok_or_else(unknown)?;
    if conversation.is_some_and(|named| ConversationId::parse(named).as_ref() != Ok(&turn.conversation.id)) {
        return Err(unknown());
    }
    match turn.conversation.ended_at {
        None => Ok(Some(Arc::new(turn))),
        Some(_) => Err(refuse_turn("The conversation has ended.".to_owned())),
    }
}

/// Makes the call of a tool in a turn, with the form of its output.
pub fn call_in_turn(
    turns: &Turns,
    turn: Arc<Turn>,
    request: ToolCallRequest,
    context: &RequestContext<RoleServer>,
) -> Result<(Call, OutputForm), ErrorData> {
    let scope = Scope::of(&context.extensions)?;
    let tool = request.name;
    let is_described = turns.output_schema_in(&turn, &tool).is_some_and(|schema| describes_objects(&schema));
    let form = if is_described { OutputForm::Described } else { OutputForm::Free };
    let call = turns.turn_call(TurnCall {
        turn,
        tool,
        principal: scope.principal.clone(),
        inputs: vec![Input::of(request.arguments)],
        protocol: AgentProtocol::Mcp,
        client: find_client(context),
        pinned: find_pinned_component(&context.meta)?,
        depth: scope.depth,
        cancelled: CancellationToken::new(),
    });
    Ok((call, form))
}

fn read_text<'a>(meta: &'a RequestMetaObject, key: &str) -> Result<Option<&'a str>, ErrorData> {
    match meta.get(key) {
        None => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| refuse_turn(format!("_meta.{key} should be an id"))),
    }
}

fn refuse_turn(text: String) -> ErrorData {
    ErrorData::invalid_params(text, None)
}
