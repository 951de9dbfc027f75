//! `GET /v1/{organization}/conversation/{conversation_id}/turn/{turn_id}`: one turn, with the tools that it presented.

use agents::Turns;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{ConversationId, TurnId};

use super::system_tools::list_system_tools;
use crate::sections;
use crate::wire::{Turn, turn_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-turn", sections::AGENTS, "Show a turn of a conversation")
        .description("One turn with the tools as it presented them. A turn never changes.")
        .returns::<Turn>(200, "The turn.", turn_example())
}

pub(crate) async fn handle(
    State(turns): State<Turns>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
    InPath(turn): InPath<TurnId>,
) -> Result<Json<Turn>, Error> {
    let turn = turns.turn(&principal, &conversation, &turn).await?.ok_or(Error::NotFound)?;
    Ok(Json(Turn::of(turn, list_system_tools(&turns))))
}
