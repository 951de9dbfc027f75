//! `POST /v1/{organization}/tool/{tool_id}`: changes the description and the tags of a tool.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody, InPath};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{DESCRIPTION, TagsDecoder};
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Store, ToolChanges, ToolId};
use serde_json::{Value, json};

use crate::sections;

pub(crate) struct Request(ToolChanges);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("modify-tool", sections::TOOLS, "Change description and tags")
        .description(
            "A field that is absent or null stays unchanged; `tags` replaces all tags. The name of a tool cannot \
            change.",
        )
        .returns_nothing(204, "Changed.")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    Body(Request(changes)): Body<Request>,
) -> Result<StatusCode, Error> {
    store.tools().modify_tool(&principal, &tool, changes).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyTool";

    fn example() -> Value {
        json!({"description": "Says it much louder.", "tags": {"team": "demo"}})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let description = fields.read_optional("description", DESCRIPTION);
        let tags = fields.read_optional("tags", TagsDecoder);
        Some(Self(ToolChanges { description, tags }))
    }
}
