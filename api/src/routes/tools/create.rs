//! `POST /v1/{organization}/tool`: creates a tool without a version.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder, Fields, FromBody, Node};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{DESCRIPTION, TagsDecoder, tool_name_schema};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{NewTool, Store, ToolName};
use serde_json::{Value, json};

use crate::sections;
use crate::wire::CreatedTool;

pub(crate) struct Request(NewTool);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("create-tool", sections::TOOLS, "Create a tool")
        .description(
            "Creates a tool without a version. The name is unique among the organisation's live tools and never \
            changes. It can be used again after the tool is deprecated.",
        )
        .returns::<CreatedTool>(201, "The tool's id.", json!({"id": "691f3b2a5c1e4d7f8a9b0c1d"}))
        .errors(400, &["name_too_long"])
        .errors(409, &["already_exists"])
        .links_to("modify-tool", "tool_id", "/id")
        .links_to("modify-tool-envvars", "tool_id", "/id")
        .links_to("publish-tool-version", "tool_id", "/id")
        .links_to("get-tool-versions", "tool_id", "/id")
        .links_to("deprecate-tool", "tool_id", "/id")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request(tool)): Body<Request>,
) -> Result<(StatusCode, Json<CreatedTool>), Error> {
    let id = store.tools().create_tool(&principal, tool).await?;
    Ok((StatusCode::CREATED, Json(CreatedTool { id: id.to_string() })))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateTool";

    fn example() -> Value {
        json!({"name": "shout", "description": "Says it louder.", "tags": {"team": "demo", "beta": null}})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.read_required("name", NewToolName.described("A part of the function name that models see."));
        let description = fields.read_required("description", DESCRIPTION.described("The purpose of the tool."));
        let tags = fields.read_required("tags", TagsDecoder);
        Some(Self(NewTool { name: name?, description: description?, tags: tags? }))
    }
}

/// The name of a new tool. A name that is only too long is refused with a code of its own.
struct NewToolName;

impl Decoder for NewToolName {
    type Value = ToolName;

    fn schema(&self) -> Value {
        tool_name_schema()
    }

    fn decode(&self, node: &Node) -> Option<ToolName> {
        let text = node.read_text()?.trim();
        match ToolName::parse(text) {
            Ok(name) => Some(name),
            Err(error) if has_valid_characters(text) => node.refuse("name_too_long", error.to_string()),
            Err(error) => node.note("string_pattern_mismatch", &error.to_string()),
        }
    }
}

fn has_valid_characters(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'))
}
