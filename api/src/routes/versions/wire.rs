//! A version on the wire, as the list and the detail show it.

use registry::{OrganizationId, ToolVersion, UserId, Version};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// A version of a tool.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolVersion")]
pub(super) struct ToolVersionInstance {
    id: String,
    org_id: String,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    tool_id: String,
    version: Version,
    required_envvars: Vec<String>,
    required_secret_envvars: Vec<String>,
    /// A JSON Schema of `input_parameters`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    input_schema: Value,
    tool_commit_hash: String,
    amigo_scaffold_commit_hash: String,
    project_directory: String,
    /// Counts the versions of the tool from 1.
    lambda_version: i64,
    creator: UserInfo,
    updated_by: UserInfo,
    deprecated: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionUser")]
pub(super) struct UserInfo {
    user_id: String,
    user_org_id: String,
}

/// What a version looks like.
pub(super) fn example() -> Value {
    let user = json!({"user_id": "ada", "user_org_id": "acme"});
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    json!({
        "id": "691f3c775c1e4d7f8a9b0c1f", "org_id": "acme", "tool_id": "691f3b2a5c1e4d7f8a9b0c1d",
        "created_at": "2026-11-20T09:37:43.000Z", "updated_at": "2026-11-20T09:37:43.000Z",
        "version": {"major": 1, "minor": 0, "patch": 0}, "required_envvars": ["GREETING"],
        "required_secret_envvars": [], "input_schema": schema,
        "tool_commit_hash": "3c1f0d6b7a2e4958c0ffee1234567890abcdef12",
        "amigo_scaffold_commit_hash": "9a8b7c6d5e4f30211234567890abcdef12345678",
        "project_directory": "tools/shout", "lambda_version": 1, "creator": user, "updated_by": user,
        "deprecated": false,
    })
}

impl UserInfo {
    pub(super) fn new(organization: &OrganizationId, user: UserId) -> Self {
        Self { user_id: user.into(), user_org_id: organization.to_string() }
    }
}

impl From<ToolVersion> for ToolVersionInstance {
    fn from(version: ToolVersion) -> Self {
        Self {
            id: version.id.into(),
            created_at: version.created_at.to_string(),
            updated_at: version.updated_at.to_string(),
            tool_id: version.tool.into(),
            version: version.version,
            required_envvars: version.required_envvars.into_iter().map(String::from).collect(),
            required_secret_envvars: version.required_secret_envvars.into_iter().map(String::from).collect(),
            input_schema: version.input_schema,
            tool_commit_hash: version.commit,
            amigo_scaffold_commit_hash: version.scaffold_commit,
            project_directory: version.project_path.into(),
            lambda_version: version.ordinal,
            creator: UserInfo::new(&version.organization, version.creator),
            updated_by: UserInfo::new(&version.organization, version.updated_by),
            org_id: version.organization.into(),
            deprecated: version.deprecated,
        }
    }
}
