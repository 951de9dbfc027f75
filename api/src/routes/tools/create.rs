//! `POST /v1/{organization}/tool`: a new tool, still without a version.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Description, NewTool, ToolName};
use serde::Serialize;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::routes::names::{stripped, tags};

pub(crate) struct Request(NewTool);

#[derive(Serialize)]
pub(crate) struct Response {
    id: String,
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
