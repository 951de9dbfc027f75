//! `POST /v1/{organization}/tool`: a new tool, still without a version.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Description, NewTool, ToolName};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag, form};
use crate::routes::names::{description_form, stripped, tags, tags_form, tool_name_form};

pub(crate) struct Request(NewTool);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedTool")]
pub(crate) struct Response {
    id: String,
}

pub(crate) fn operation() -> Operation {
    Operation::new("create-tool", Tag::Tools, "Create a tool")
        .says(
            "A tool begins without a version. Its name is unique among the organisation's live tools, never changes, \
            and is free again once the tool is deprecated.",
        )
        .answers::<Response>(201, "The tool's id.", json!({"id": "691f3b2a5c1e4d7f8a9b0c1d"}))
        .refuses(400, &["name_too_long"])
        .refuses(409, &["already_exists"])
        .leads_to("modify-tool", "tool_id", "/id")
        .leads_to("modify-tool-envvars", "tool_id", "/id")
        .leads_to("publish-tool-version", "tool_id", "/id")
        .leads_to("get-tool-versions", "tool_id", "/id")
        .leads_to("deprecate-tool", "tool_id", "/id")
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request(tool)): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let id = app.store().create_tool(&principal, tool).await?;
    Ok((StatusCode::CREATED, Json(Response { id: id.to_string() })))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateTool";

    fn form() -> Value {
        json!({
            "type": "object",
            "required": ["name", "description", "tags"],
            "properties": {
                "name": form::said(tool_name_form(), "Part of the function name that models see."),
                "description": form::said(description_form(), "What the tool does."),
                "tags": tags_form(),
            },
        })
    }

    fn example() -> Value {
        json!({"name": "shout", "description": "Says it louder.", "tags": {"team": "demo", "beta": null}})
    }

    fn from_body(body: &Node) -> Option<Self> {
        let name = body.required("name").and_then(|node| name(&node));
        let description = body.required("description").and_then(|node| node.parsed(stripped::<Description>));
        let tags = body.required("tags").and_then(|node| tags(&node));
        Some(Self(NewTool { name: name?, description: description?, tags: tags? }))
    }
}

/// Wrong characters are wrong in form; being too long is a rule of ours and refused as such.
fn name(node: &Node) -> Option<ToolName> {
    let text = node.text()?.trim();
    match ToolName::parse(text) {
        Ok(name) => Some(name),
        Err(error) if is_spelled_right(text) => node.refuse("name_too_long", error.to_string()),
        Err(error) => node.note("string_pattern_mismatch", &error.to_string()),
    }
}

fn is_spelled_right(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'))
}
