//! `POST /v1/{organization}/tool/{tool_id}/version`: the branch's tip becomes the next version.

use axum::extract::State;
use axum::response;
use builder::PublishRequest;
use registry::{BranchName, BumpKind, OperationKind, ProjectPath, ToolId, Version};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::{Caller, require_for_tool};
use crate::error::Error;
use crate::extract::{FromBody, InPath, Node, Repeatable};
use crate::openapi::{OF_BUILDS, Operation, Tag, form};
use crate::routes::gate::{GATE_TAKES, gate, gate_form};
use crate::routes::names::{branch_name_form, project_path_form};
use crate::routes::progress::reported;
use crate::work::{Answer, Job, Reply, Task, remembered};

/// `auto` is ours.
const BUMPS: [(&str, Option<BumpKind>); 4] = [
    ("major", Some(BumpKind::Major)),
    ("minor", Some(BumpKind::Minor)),
    ("patch", Some(BumpKind::Patch)),
    ("auto", None),
];

pub(crate) struct Request(PublishRequest);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PublishedVersion")]
struct Response {
    new_version: String,
}

pub(crate) fn operation() -> Operation {
    let operation = Operation::new("publish-tool-version", Tag::Versions, "Publish a version")
        .says(
            "Builds the tip of a branch, runs its project's checks, and makes it the tool's next version; the first one is `1.0.0` whatever the \
            bump. The highest version before it is compared: whoever calls it must be able to go on after a minor or \
            patch bump, or `build_failed` says why and which bump would do. A commit that the last version already contains is refused, and so is a version whose variables the \
            tool lacks. While another operation on the tool runs, 409 comes at once, and so it does without an \
            idempotency key when the same commit was published the same way less than ten minutes ago.",
        )
        .answers::<Response>(201, "The new version.", json!({"new_version": "1.0.0"}))
        .refuses(
            400,
            &[
                "build_failed",
                "variables_missing",
                "too_many",
                "unknown_branch",
                "unknown_commit",
                "missing_project_directory",
                "refused_tree",
                "component_rejected",
            ],
        )
        .refuses(409, &["operation_in_progress", "lease_lost", "already_published"])
        .refuses(429, &["too_many_builds"])
        .refuses(503, OF_BUILDS)
        .leads_to("get-tool-version", "version", "/new_version")
        .leads_to("invoke-tool-version", "version", "/new_version");
    remembered(operation)
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    reply: Reply,
    Repeatable { request: Request(request), once }: Repeatable<Request>,
) -> Result<response::Response, Error> {
    if request.gate.is_some() {
        for permission in GATE_TAKES {
            require_for_tool(&app, &principal, permission, &tool).await?;
        }
    }
    let builder = app.builder().clone();
    let is_deliberate = once.is_some();
    let task = Task { principal: principal.clone(), kind: OperationKind::Publish, tool: tool.clone(), once };
    let publish = move |job: Job| async move {
        let request = PublishRequest { operation: job.operation, is_deliberate, ..request };
        let build = |progress| builder.publish(&principal, tool, request, progress);
        published(reported(&job.events, build).await?)
    };
    reply.tracked(&app, task, publish).await
}

/// The answer to a publication that made this version.
pub(crate) fn published(version: Version) -> Result<Answer, Error> {
    Answer::created(&Response { new_version: version.to_string() })
}

impl FromBody for Request {
    const NAME: &'static str = "PublishToolVersion";

    fn form() -> Value {
        let branch =
            form::said(form::or_null(branch_name_form()), "Without it the team's branch, `releases/<organization>`.");
        json!({
            "type": "object",
            "required": ["project_path", "bump_type"],
            "properties": {
                "project_path": project_path_form(),
                "bump_type": form::said(form::one_of(&BUMPS),
                    "Which part of the version to raise. A bump smaller than the changes need is refused; `auto` takes the \
                    least that they need.",
                ),
                "commit_branch": branch,
                "gate": gate_form(),
            },
        })
    }

    fn example() -> Value {
        json!({"project_path": "tools/shout", "bump_type": "minor", "commit_branch": "releases/acme"})
    }

    /// `commit_branch` is ours; without it the team's branch is meant.
    fn from_body(body: &Node) -> Option<Self> {
        let project_path = body.required("project_path").and_then(|node| node.parsed(ProjectPath::parse));
        let bump = body.required("bump_type").and_then(|node| node.one_of(&BUMPS));
        let commit_branch = body.optional("commit_branch").and_then(|node| node.parsed(BranchName::parse));
        let gate = gate(body);
        let (project_path, bump, gate) = (project_path?, bump?, gate?);
        Some(Self(PublishRequest { project_path, bump, gate, commit_branch, operation: None, is_deliberate: false }))
    }
}
