//! Versions of a tool.

use std::collections::BTreeMap;

use registry::{
    Annotations, ApiName, Intervention, InterventionRule, McpSettings, OrganizationId, SchemaText, TaskSupport, UserId,
    Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A version of a tool.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolVersion {
    pub id: String,
    pub org_id: String,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
    pub tool_id: String,
    pub version: Version,
    pub required_envvars: Vec<String>,
    pub required_secret_envvars: Vec<String>,
    /// The JSON Schema of `input_parameters`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub input_schema: SchemaText,
    pub tool_commit_hash: String,
    pub amigo_scaffold_commit_hash: String,
    pub project_directory: String,
    /// Compatibility, for clients of the contract: the number of the version among those of the tool, from 1.
    pub lambda_version: i64,
    pub creator: VersionUser,
    pub updated_by: VersionUser,
    pub deprecated: bool,
    /// The author's hints for models and clients. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Whether a person confirms each call. Absent for `never`.
    #[serde(default, skip_serializing_if = "Intervention::is_never")]
    pub intervention: Intervention,
    /// Rules for the calls with certain arguments. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervention_rules: Vec<InterventionRule>,
    /// Whether a call over MCP becomes a task. Absent for `never`.
    #[serde(default, skip_serializing_if = "TaskSupport::is_never")]
    pub tasks: TaskSupport,
    /// What MCP clients see besides a tool, and when tasks begin. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "McpSettings::is_empty")]
    pub mcp: McpSettings,
    /// The hints and the confirmations of the APIs, by their names. Absent for a tool of one function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apis: BTreeMap<ApiName, VersionApi>,
}

/// The declarations of an API for models and clients.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToolVersionApi")]
pub struct VersionApi {
    /// The author's hints for models and clients. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Whether a person confirms each call. Absent for `never`.
    #[serde(default, skip_serializing_if = "Intervention::is_never")]
    pub intervention: Intervention,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VersionUser {
    pub user_id: String,
    pub user_org_id: String,
}

/// The response to a publication.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PublishedVersion {
    pub new_version: String,
    /// Declarations that most likely do not do what their author means. Absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An example of a version, for the OpenAPI document.
pub(crate) fn version_example() -> Value {
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
        "deprecated": false, "annotations": {"title": "Shout", "read_only": true}, "intervention": "required",
        "tasks": "optional",
    })
}

impl VersionUser {
    pub(crate) fn new(organization: &OrganizationId, user: UserId) -> Self {
        Self { user_id: user.into(), user_org_id: organization.to_string() }
    }
}

impl From<registry::ToolApi> for VersionApi {
    fn from(api: registry::ToolApi) -> Self {
        Self { annotations: api.annotations, intervention: api.intervention }
    }
}

impl From<registry::ToolVersion> for ToolVersion {
    fn from(version: registry::ToolVersion) -> Self {
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
            creator: VersionUser::new(&version.organization, version.creator),
            updated_by: VersionUser::new(&version.organization, version.updated_by),
            org_id: version.organization.into(),
            deprecated: version.deprecated,
            annotations: version.settings.annotations,
            intervention: version.settings.intervention,
            intervention_rules: version.settings.intervention_rules,
            tasks: version.settings.task_support,
            mcp: version.settings.mcp,
            apis: version.settings.apis.into_iter().map(|(name, api)| (name, api.into())).collect(),
        }
    }
}
