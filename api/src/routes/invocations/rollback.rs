//! `POST /v1/{organization}/tool/invocation/rollback`: the records of a conversation, or of one interaction in it, leave
//! the conversation. They stay in the history and lose its ids.
//!
//! It asks for the right to invoke: whoever leads conversations takes back their turns, and the right to read the
//! history is not one to change how it reads.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag, form};
use crate::routes::names::object_id;

pub(crate) struct Request {
    conversation_id: String,
    interaction_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RolledBack")]
pub(crate) struct Response {
    /// Records that left the conversation now; none when they had left it before.
    rolled_back: u64,
}

pub(crate) fn operation() -> Operation {
    Operation::new("roll-back-tool-invocations", Tag::History, "Take back a conversation")
        .says(
            "Takes the records of a conversation, or those of one interaction in it, out of it. They stay in the \
            history, without the conversation's ids; nothing is rewritten. What has left the conversation before is \
            not counted again.",
        )
        .answers::<Response>(200, "How many records left the conversation.", json!({"rolled_back": 2}))
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request { conversation_id, interaction_id }): Body<Request>,
) -> Result<Json<Response>, Error> {
    let unlinked = app.store().unlink_invocations(&principal, &conversation_id, interaction_id.as_deref());
    Ok(Json(Response { rolled_back: unlinked.await? }))
}

impl FromBody for Request {
    const NAME: &'static str = "RollBackToolInvocations";

    fn form() -> Value {
        json!({
            "type": "object",
            "required": ["conversation_id"],
            "properties": {
                "conversation_id": form::object_id(),
                "interaction_id": form::said(form::or_null(form::object_id()), "Without it the whole conversation."),
            },
        })
    }

    fn example() -> Value {
        json!({"conversation_id": "691f3b2a5c1e4d7f8a9b0c30", "interaction_id": "691f3b2a5c1e4d7f8a9b0c31"})
    }

    fn from_body(body: &Node) -> Option<Self> {
        let conversation_id = body.required("conversation_id").and_then(|node| node.parsed(object_id));
        let interaction_id = match body.optional("interaction_id") {
            Some(node) => Some(node.parsed(object_id)?),
            None => None,
        };
        Some(Self { conversation_id: conversation_id?, interaction_id })
    }
}
