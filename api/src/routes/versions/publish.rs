//! `POST /v1/{organization}/tool/{tool_id}/version`: publishes the tip of a branch as the next version.

use api_kit::auth::Requirement;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Decoder as _, Fields, FromBody, Idempotent, InPath, OneOf};
use api_kit::openapi::{BUILD_CODES, MISSING_SOURCE_CODES, OperationDoc};
use api_kit::text_types::{PROJECT_PATH, RELEASE_BRANCH};
use axum::extract::State;
use axum::response;
use builder::{Builder, PublishRequest, Published};
use registry::{Once, OperationKind, Permission, Principal, Store, ToolId};
use repository::CommitId;
use serde_json::{Value, json};

use crate::routes::progress::report;
use crate::routes::replay_gate::{GATE_PERMISSIONS, replay_gate};
use crate::sections;
use crate::wire::{BUMPS, PublishToolVersion, PublishedVersion};
use crate::work::{FinalResponse, OperationRequest, Reply, WorkContext, with_operation_responses};

pub(crate) fn operation() -> OperationDoc {
    let operation = OperationDoc::new("publish-tool-version", sections::VERSIONS, "Publish a version")
        .description(
            "Builds the tip of a branch, runs the checks of its project, and publishes it as the tool's next version. The \
            first version is `1.0.0`, whatever the bump. After a minor or patch bump, callers of the highest earlier \
            version must be able to call the new version unchanged; otherwise `build_failed` gives the reason and the bump \
            that is needed. The server refuses a commit that the last version already contains, and a version whose \
            variables the tool lacks. The response is 409 while another operation on the tool runs. It is also 409 when a \
            request without an idempotency key publishes the same commit the same way within ten minutes. `warnings` names \
            declarations that most likely do not do what their author means, and is absent without any.",
        )
        .returns::<PublishedVersion>(201, "The new version.", json!({"new_version": "1.0.0"}))
        .errors(400, &["build_failed", "variables_missing", "too_many", "refused_tree", "component_rejected"])
        .errors(404, MISSING_SOURCE_CODES)
        .errors(409, &["operation_in_progress", "lease_lost", "already_published"])
        .errors(429, &["too_many_builds"])
        .errors(503, BUILD_CODES)
        .links_to("get-tool-version", "version", "/new_version")
        .links_to("invoke-tool-version", "version", "/new_version");
    with_operation_responses(operation)
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(builder): State<Builder>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    reply: Reply,
    Idempotent { request, once }: Idempotent<PublishToolVersion>,
) -> Result<response::Response, Error> {
    let publication = Publication { principal, tool, request, commit: None, is_deliberate: once.is_some() };
    publication.permit_gate(&store).await?;
    let operation = publication.build_request(once, builder.outlives_server())?;
    reply.respond_as_operation(operation, |context| publication.carry_out(builder, context)).await
}

/// A publication that a request asks for.
pub(super) struct Publication {
    pub(super) principal: Principal,
    pub(super) tool: ToolId,
    pub(super) request: PublishToolVersion,
    pub(super) commit: Option<CommitId>,
    pub(super) is_deliberate: bool,
}

impl Publication {
    /// Requires the further permissions of a gate.
    pub(super) async fn permit_gate(&self, store: &Store) -> Result<(), Error> {
        let further: &[Permission] = if self.request.gate.is_some() { &GATE_PERMISSIONS } else { &[] };
        for &permission in further {
            self.permit(store, permission).await?;
        }
        Ok(())
    }

    pub(super) async fn permit(&self, store: &Store, permission: Permission) -> Result<(), Error> {
        Requirement { principal: &self.principal, permission }.require_for_tool(store, &self.tool).await
    }

    fn build_request(&self, once: Option<Once>, outlives_server: bool) -> Result<OperationRequest, Error> {
        let request = serde_json::to_string(&self.request);
        let request = request.map_err(|error| Error::Internal { detail: format!("a request is not JSON: {error}") })?;
        let request = outlives_server.then_some(request);
        let (principal, tool) = (self.principal.clone(), self.tool.clone());
        Ok(OperationRequest { principal, kind: OperationKind::Publish, tool, once, request })
    }

    pub(super) async fn carry_out(self, builder: Builder, context: WorkContext) -> Result<FinalResponse, Error> {
        let Self { principal, tool, request, commit, is_deliberate } = self;
        let PublishToolVersion { project_path, bump_type, gate, commit_branch } = request;
        let (bump, operation) = (bump_type.kind(), context.operation);
        let request =
            PublishRequest { tool, project_path, bump, gate, commit_branch, commit, operation, is_deliberate };
        let build = |progress| builder.publish(&principal, request, progress);
        let Published { version, warnings } = report(&context.events, build).await?;
        FinalResponse::created(&PublishedVersion { new_version: version.to_string(), warnings })
    }
}

impl FromBody for PublishToolVersion {
    const NAME: &'static str = "PublishToolVersion";

    fn example() -> Value {
        json!({"project_path": "tools/shout", "bump_type": "minor", "commit_branch": "releases/acme"})
    }

    /// Reads the request. `commit_branch` is not in the contract.
    fn read(fields: &mut Fields) -> Option<Self> {
        let project_path = fields.read_required("project_path", PROJECT_PATH);
        let bump_type = fields.read_required(
            "bump_type",
            OneOf(&BUMPS).described(
                "The part of the version to increment. The server refuses a bump that is smaller than the changes need; \
                `auto` takes the smallest bump that they need.",
            ),
        );
        let commit_branch = fields.read_optional(
            "commit_branch",
            RELEASE_BRANCH
                .described("A branch below `releases/`. When absent, the team's branch `releases/<organization>`."),
        );
        let gate = fields.read_optional("gate", replay_gate());
        let (project_path, bump_type) = (project_path?, bump_type?);
        Some(Self { project_path, bump_type, gate, commit_branch })
    }
}

#[cfg(test)]
mod tests {
    use api_kit::extract::parse_body;

    use super::*;

    #[test]
    fn a_request_is_stored_as_it_is_read() {
        for body in [
            json!({"project_path": "tools/shout", "bump_type": "auto"}),
            json!({
                "project_path": "tools/shout", "bump_type": "minor", "commit_branch": "releases/acme",
                "gate": {"replay": 5, "different_percent_max": 1, "slower_percent_max": 20},
            }),
        ] {
            let request: PublishToolVersion = parse_body(&body).unwrap();
            assert_eq!(serde_json::to_value(&request).unwrap(), body);
        }
    }
}
