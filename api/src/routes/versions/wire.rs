//! A version on the wire, as the list and the detail show it.

use registry::{OrganizationId, ToolVersion, UserId, Version};
use serde::Serialize;
use serde_json::Value;

/// The contract's fields; the list has no others.
#[derive(Serialize)]
pub(super) struct ToolVersionInstance {
    id: String,
    org_id: String,
    created_at: String,
    updated_at: String,
    tool_id: String,
    version: Version,
    required_envvars: Vec<String>,
    required_secret_envvars: Vec<String>,
    input_schema: Value,
    tool_commit_hash: String,
    amigo_scaffold_commit_hash: String,
    project_directory: String,
    /// Counts the versions of the tool; the name is the contract's.
    lambda_version: i64,
    creator: UserInfo,
    updated_by: UserInfo,
    deprecated: bool,
}

#[derive(Serialize)]
pub(super) struct UserInfo {
    user_id: String,
    user_org_id: String,
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
