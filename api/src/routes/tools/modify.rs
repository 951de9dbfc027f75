//! `POST /v1/{organization}/tool/{tool_id}`: another description, other tags. A tool keeps its name.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Description, ToolChanges, ToolId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::routes::names::{stripped, tags};

pub(crate) struct Request(ToolChanges);

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
    fn from_body(body: &Node) -> Option<Self> {
        body.object()?;
        let description = body.optional("description").and_then(|node| node.parsed(stripped::<Description>));
        let tags = body.optional("tags").and_then(|node| tags(&node));
        Some(Self(ToolChanges { description, tags }))
    }
}
