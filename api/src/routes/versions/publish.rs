//! `POST /v1/{organization}/tool/{tool_id}/version`: the branch's tip becomes the next version.

use axum::extract::State;
use axum::response;
use builder::PublishRequest;
use registry::{BranchName, BumpKind, ProjectPath, ToolId};
use serde::Serialize;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::routes::progress::reported;
use crate::work::{Answer, Reply};

const BUMPS: [(&str, BumpKind); 3] =
    [("major", BumpKind::Major), ("minor", BumpKind::Minor), ("patch", BumpKind::Patch)];

pub(crate) struct Request(PublishRequest);

#[derive(Serialize)]
struct Response {
    new_version: String,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    reply: Reply,
    Body(Request(request)): Body<Request>,
) -> Result<response::Response, Error> {
    let builder = app.builder().clone();
    let publish = |events| async move {
        let build = |progress| builder.publish(&principal, tool, request, progress);
        let version = reported(&events, build).await?;
        Answer::created(&Response { new_version: version.to_string() })
    };
    reply.with(&app, publish).await
}

impl FromBody for Request {
    /// `commit_branch` is ours; without it the team's branch is meant.
    fn from_body(body: &Node) -> Option<Self> {
        let project_path = body.required("project_path").and_then(|node| node.parsed(ProjectPath::parse));
        let bump = body.required("bump_type").and_then(|node| node.one_of(&BUMPS));
        let commit_branch = body.optional("commit_branch").and_then(|node| node.parsed(BranchName::parse));
        Some(Self(PublishRequest { project_path: project_path?, bump: bump?, commit_branch }))
    }
}
