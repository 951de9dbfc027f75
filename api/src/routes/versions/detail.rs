//! `GET /v1/{organization}/tool/{tool_id}/version/{version}`: one version with its digests, settings and build log.

use axum::Json;
use axum::extract::State;
use registry::{BuildReference, InvalidValue, ToolId, ToolVersion, Version, VersionSettings};
use serde::Serialize;

use super::wire::ToolVersionInstance;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{InPath, PathParameter};

/// The contract's fields and ours.
#[derive(Serialize)]
pub(crate) struct Response {
    #[serde(flatten)]
    version: ToolVersionInstance,
    commit_branch: String,
    image_digest: String,
    bundle_digest: Option<String>,
    component_digest: String,
    settings: VersionSettings,
    build_log: Option<String>,
}

/// One version, spelled out.
pub(crate) struct ExactVersion(Version);

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(ExactVersion(version)): InPath<ExactVersion>,
) -> Result<Json<Response>, Error> {
    let organization = &principal.organization;
    let found = app.store().get_version(organization, &tool, &version).await?.ok_or(Error::NotFound)?;
    let build = app.store().get_build(organization, &BuildReference::Version(found.id.clone())).await?;
    Ok(Json(Response::new(found, build.map(|build| build.log))))
}

impl Response {
    fn new(version: ToolVersion, build_log: Option<String>) -> Self {
        Self {
            commit_branch: version.commit_branch.to_string(),
            image_digest: version.image_digest.to_string(),
            bundle_digest: version.bundle_digest.map(|digest| digest.to_string()),
            component_digest: version.component_digest.to_string(),
            settings: version.settings.clone(),
            build_log,
            version: version.into(),
        }
    }
}

impl PathParameter for ExactVersion {
    const NAME: &'static str = "version";
    type Invalid = InvalidValue;

    fn parse_parameter(text: &str) -> Result<Self, InvalidValue> {
        Version::parse(text).map(Self)
    }
}
