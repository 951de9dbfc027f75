//! `POST /v1/{organization}/tool/invocation/rollback`: takes the records of a conversation, or of
//! one interaction in it, out of the conversation. They stay in the history without its ids.
//!
//! The operation needs the permission to invoke: clients that hold conversations take back turns. The permission to read
//! the history does not permit a change of the history.

use axum::Json;
use axum::extract::State;
use registry::Store;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, Decoder as _, Fields, FromBody};
use crate::openapi::{OperationDoc, Tag};
use crate::routes::text_types::FOREIGN_ID;

pub(crate) struct Request {
    conversation_id: String,
    interaction_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RolledBack")]
pub(crate) struct Response {
    /// The number of records that this request took out of the conversation.
    rolled_back: u64,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("roll-back-tool-invocations", Tag::History, "Take records out of a conversation")
        .description(
            "Takes the records of a conversation, or of one interaction in it, out of the conversation. They stay in the \
            history without the conversation's ids; nothing else changes. Records that left the conversation before are \
            not counted again.",
        )
        .returns::<Response>(200, "The number of records that left the conversation.", json!({"rolled_back": 2}))
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request { conversation_id, interaction_id }): Body<Request>,
) -> Result<Json<Response>, Error> {
    let unlinked = store.unlink_invocations(&principal, &conversation_id, interaction_id.as_deref());
    Ok(Json(Response { rolled_back: unlinked.await? }))
}

impl FromBody for Request {
    const NAME: &'static str = "RollBackToolInvocations";

    fn example() -> Value {
        json!({"conversation_id": "691f3b2a5c1e4d7f8a9b0c30", "interaction_id": "691f3b2a5c1e4d7f8a9b0c31"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let conversation_id = fields.required("conversation_id", FOREIGN_ID);
        let interaction_id =
            fields.optional("interaction_id", FOREIGN_ID.described("When absent, the whole conversation."));
        Some(Self { conversation_id: conversation_id?, interaction_id })
    }
}
