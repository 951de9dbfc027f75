//! `POST /v1/{organization}/tool/{tool_id}/version/{version}/verify`: builds a version again and compares.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::{BUILD_CODES, OperationDoc};
use axum::extract::State;
use axum::response;
use builder::Builder;
use registry::{Store, ToolId};
use serde_json::json;

use super::detail::ExactVersion;
use crate::routes::progress::report;
use crate::sections;
use crate::wire::Verification;
use crate::work::{FinalResponse, Reply, WorkContext};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("verify-tool-version", sections::VERSIONS, "Build a version again and compare")
        .description(
            "Builds the commit of a version again and compares the result with the published version. Another release of \
            Lathe may have another image of the language: then `image_digest` and `component_digest` differ.",
        )
        .returns::<Verification>(
            200,
            "The result of the comparison.",
            json!({"identical": true, "differences": [], "signed": true}),
        )
        .errors(400, &["build_failed", "refused_tree", "component_rejected"])
        .errors(404, &["unknown_commit", "missing_project_directory"])
        .errors(429, &["too_many_builds"])
        .errors(503, BUILD_CODES)
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(builder): State<Builder>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(ExactVersion(version)): InPath<ExactVersion>,
    reply: Reply,
) -> Result<response::Response, Error> {
    let found = store.versions().get_version(&principal.organization, &tool, &version).await?.ok_or(Error::NotFound)?;
    let verify = move |context: WorkContext| async move {
        let build = |progress| async move { builder.verify(&principal, &found, progress).await };
        FinalResponse::ok(&Verification::from(report(&context.events, build).await?))
    };
    reply.respond(verify).await
}
