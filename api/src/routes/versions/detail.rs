//! `GET /v1/{organization}/tool/{tool_id}/version/{version}`: one version with its digests, settings and build log.

use axum::Json;
use axum::extract::State;
use registry::{BuildReference, InvalidValue, ToolId, ToolVersion, Version, VersionSettings};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{self, ToolVersionInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{InPath, PathParameter};
use crate::openapi::{Operation, Tag};

/// A version with what it was made from and how it runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolVersionDetail")]
pub(crate) struct Response {
    #[serde(flatten)]
    version: ToolVersionInstance,
    commit_branch: String,
    image_digest: String,
    bundle_digest: Option<String>,
    /// SHA-256 of the component that runs: the image with the bundle in a custom section.
    component_digest: String,
    settings: VersionSettings,
    /// At most 100 KiB.
    build_log: Option<String>,
}

/// One version, spelled out.
pub(crate) struct ExactVersion(pub(super) Version);

pub(crate) fn operation() -> Operation {
    Operation::new("get-tool-version", Tag::Versions, "Show a version")
        .says("One version, live or not, with its digests, its settings and the log of its build.")
        .answers::<Response>(200, "The version.", example())
}

fn example() -> Value {
    let mut example = wire::example();
    let digest = |digit: &str| digit.repeat(64);
    example["commit_branch"] = json!("releases/acme");
    example["image_digest"] = json!(digest("1"));
    example["bundle_digest"] = json!(digest("2"));
    example["component_digest"] = json!(digest("3"));
    example["settings"] = json!({
        "language": "python", "entry_point": "tool:run_tool", "allowed_hosts": [], "secret_hosts": {},
        "mocks_digest": null, "timeout_ms": 30_000, "memory_bytes": 134_217_728, "limits": {"host_calls": 1_000},
        "tape": true, "recorded_answers": false,
        "world": {
            "name": "lathe:tool/tool@0.1.0", "exports": ["run-tool"],
            "imports": ["lathe:tool/http@0.1.0", "lathe:tool/status@0.1.0", "lathe:tool/types@0.1.0"],
        },
    });
    example["build_log"] = json!("checkout: 3 files\n");
    example
}

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
    const SAYS: &'static str = "A version such as `1.2.0`.";
    type Invalid = InvalidValue;

    fn form() -> Value {
        let number = "(0|[1-9][0-9]{0,17})";
        json!({"type": "string", "pattern": format!(r"^{number}\.{number}\.{number}$")})
    }

    fn parse_parameter(text: &str) -> Result<Self, InvalidValue> {
        Version::parse(text).map(Self)
    }
}
