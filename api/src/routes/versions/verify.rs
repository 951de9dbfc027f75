//! `POST /v1/{organization}/tool/{tool_id}/version/{version}/verify`: the version once more, from its commit.

use axum::extract::State;
use axum::response;
use builder::{Verification, VersionDifference};
use registry::ToolId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::detail::ExactVersion;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OF_BUILDS, Operation, Tag};
use crate::routes::progress::reported;
use crate::work::{Answer, Reply};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionVerification")]
struct Response {
    /// Whether the build gave the same version, byte for byte.
    identical: bool,
    differences: Vec<Difference>,
    /// Whether the signature on the provenance is right, and names this component. Null when nothing was signed.
    signed: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionDifference")]
struct Difference {
    /// A field of the version; or `toolchain`, when something differs and other programs made it.
    what: String,
    published: String,
    rebuilt: String,
}

pub(crate) fn operation() -> Operation {
    Operation::new("verify-tool-version", Tag::Versions, "Build a version again and compare")
        .says(
            "Builds the commit of a version again, as it was published, and says what is not the same. Another release of \
            Lathe brings another image of the language: then `image_digest` differs, and with it the component.",
        )
        .answers::<Response>(200, "What came of it.", example())
        .refuses(400, &["build_failed", "missing_project_directory", "refused_tree", "component_rejected"])
        .refuses(429, &["too_many_builds"])
        .refuses(503, OF_BUILDS)
}

fn example() -> Value {
    json!({"identical": true, "differences": [], "signed": true})
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(ExactVersion(version)): InPath<ExactVersion>,
    reply: Reply,
) -> Result<response::Response, Error> {
    let found = app.store().get_version(&principal.organization, &tool, &version).await?.ok_or(Error::NotFound)?;
    let builder = app.builder().clone();
    let verify = move |job: crate::work::Job| async move {
        let build = |progress| async move { builder.verify(&principal, &found, progress).await };
        Answer::ok(&Response::from(reported(&job.events, build).await?))
    };
    reply.with(&app, verify).await
}

impl From<Verification> for Response {
    fn from(Verification { differences, is_signed }: Verification) -> Self {
        let one = |VersionDifference { what, published, rebuilt }| Difference { what: what.into(), published, rebuilt };
        let differences: Vec<_> = differences.into_iter().map(one).collect();
        Self { identical: differences.is_empty(), differences, signed: is_signed }
    }
}
