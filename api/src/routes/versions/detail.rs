//! `GET /v1/{organization}/tool/{tool_id}/version/{version}`: one version with its digests, its settings and its build log.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{InPath, PathParameter, Text};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{BuildReference, Store, ToolId, Version, VersionSettings};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::sections;
use crate::wire::{ToolVersion, version_example};

/// A version with its sources, its digests and its settings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolVersionDetail")]
pub(crate) struct Response {
    #[serde(flatten)]
    version: ToolVersion,
    commit_branch: String,
    image_digest: String,
    bundle_digest: Option<String>,
    /// The SHA-256 of the component that runs: the image with the bundle in a custom section.
    component_digest: String,
    settings: VersionSettings,
    /// Log of the build, at most 100 KiB.
    build_log: Option<String>,
}

/// The number of one version.
pub(crate) struct ExactVersion(pub(super) Version);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-tool-version", sections::VERSIONS, "Show a version")
        .description("One version, live or deprecated, with its digests, its settings and the log of its build.")
        .returns::<Response>(200, "The version.", example())
}

fn example() -> Value {
    let mut example = version_example();
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
        "annotations": {"title": "Shout", "read_only": true}, "intervention": "required", "tasks": "optional",
    });
    example["build_log"] = json!("checkout: 3 files\n");
    example
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(ExactVersion(version)): InPath<ExactVersion>,
) -> Result<Json<Response>, Error> {
    let organization = &principal.organization;
    let found = store.versions().get_version(organization, &tool, &version).await?.ok_or(Error::NotFound)?;
    let build = store.versions().get_build(organization, &BuildReference::Version(found.id.clone())).await?;
    Ok(Json(Response::new(found, build.map(|build| build.log))))
}

impl Response {
    fn new(version: registry::ToolVersion, build_log: Option<String>) -> Self {
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
    const DESCRIPTION: &'static str = "A version such as `1.2.0`.";

    fn decoder() -> Text<Self> {
        Text::new(
            || {
                let number = "(0|[1-9][0-9]{0,17})";
                json!({"type": "string", "pattern": format!(r"^{number}\.{number}\.{number}$")})
            },
            |text| Version::parse(text).map(Self).map_err(|error| error.to_string()),
        )
    }
}
