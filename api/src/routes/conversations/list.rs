//! `GET /v1/{organization}/agent/{agent_id}/conversation`: lists the caller's conversations with an agent, in pages.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, Page};
use serde_json::json;

use crate::sections;
use crate::wire::{Conversation, ConversationList, conversation_example};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"conversations": [conversation_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-conversations", sections::AGENTS, "List conversations with an agent")
        .description("Lists the caller's conversations with the agent, newest first.")
        .returns::<ConversationList>(200, "One page of the list.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Query(Request(page)): Query<Request>,
) -> Result<Json<ConversationList>, Error> {
    let found = store.conversations().list_conversations(&principal, &agent, page).await?;
    Ok(Json(ConversationList::new(found, Conversation::from)))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.read_page(1..=100, 100))
    }
}
