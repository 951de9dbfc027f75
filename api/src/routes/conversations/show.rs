//! `GET /v1/{organization}/conversation/{conversation_id}`: one conversation of the caller.

use axum::Json;
use axum::extract::State;
use registry::{ConversationId, Store};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{Conversation, conversation_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-conversation", Tag::AGENTS, "Show a conversation")
        .description("One conversation of the caller.")
        .returns::<Conversation>(200, "The conversation.", conversation_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
) -> Result<Json<Conversation>, Error> {
    let found = store.conversations().get_conversation(&principal, &conversation).await?.ok_or(Error::NotFound)?;
    Ok(Json(found.into()))
}
