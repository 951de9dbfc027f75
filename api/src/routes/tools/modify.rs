//! `POST /v1/{organization}/tool/{tool_id}`: another description, other tags. A tool keeps its name.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Description, ToolChanges, ToolId};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::openapi::{Operation, Tag, form};
use crate::routes::names::{description_form, stripped, tags, tags_form};

pub(crate) struct Request(ToolChanges);

pub(crate) fn operation() -> Operation {
    Operation::new("modify-tool", Tag::Tools, "Change description and tags")
        .says("What is absent or null stays as it is; `tags` replaces all tags. A tool keeps its name.")
        .answers_nothing(204, "Changed.")
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    Body(Request(changes)): Body<Request>,
) -> Result<StatusCode, Error> {
    app.store().modify_tool(&principal, &tool, changes).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyTool";

    fn form() -> Value {
        json!({
            "type": "object",
            "properties": {
                "description": form::or_null(description_form()),
                "tags": form::or_null(tags_form()),
            },
        })
    }

    fn example() -> Value {
        json!({"description": "Says it much louder.", "tags": {"team": "demo"}})
    }

    fn from_body(body: &Node) -> Option<Self> {
        body.object()?;
        let description = body.optional("description").and_then(|node| node.parsed(stripped::<Description>));
        let tags = body.optional("tags").and_then(|node| tags(&node));
        Some(Self(ToolChanges { description, tags }))
    }
}
