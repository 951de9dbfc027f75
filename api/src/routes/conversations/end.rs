//! `DELETE /v1/{organization}/conversation/{conversation_id}`: ends a conversation.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::ConversationId;

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("end-conversation", sections::AGENTS, "End a conversation")
        .description(
            "Ends the conversation: it has no more turns and calls. Its turns, its log and its runs stay. A conversation that has \
            ended stays as it is.",
        )
        .returns_nothing(204, "Ended.")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
) -> Result<StatusCode, Error> {
    store.conversations().end_conversation(&principal, &conversation).await?;
    Ok(StatusCode::NO_CONTENT)
}
