//! `GET /v1/{organization}/conversation/{conversation_id}`: one conversation of the caller.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::ConversationId;

use crate::sections;
use crate::wire::{Conversation, conversation_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-conversation", sections::AGENTS, "Show a conversation")
        .description("One conversation of the caller.")
        .returns::<Conversation>(200, "The conversation.", conversation_example())
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
) -> Result<Json<Conversation>, Error> {
    let found = store.conversations().get_conversation(&principal, &conversation).await?.ok_or(Error::NotFound)?;
    Ok(Json(found.into()))
}
