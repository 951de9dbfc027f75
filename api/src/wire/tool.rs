//! Tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tool. Of its variables only the names are shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    pub id: String,
    pub org_id: String,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
    pub name: String,
    pub description: String,
    pub deprecated: bool,
    pub envvars: Vec<String>,
    pub secret_envvars: Vec<String>,
    pub tags: Vec<ToolTag>,
    pub creator: ToolUser,
    pub updated_by: ToolUser,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tag")]
pub struct ToolTag {
    pub key: String,
    pub value: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolUser {
    pub org_id: String,
    pub user_id: String,
}

/// The response to the creation of a tool.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedTool {
    pub id: String,
}

impl From<registry::Tool> for Tool {
    fn from(tool: registry::Tool) -> Self {
        let user = |user: registry::UserId| ToolUser { org_id: tool.organization.to_string(), user_id: user.into() };
        let tag = |(key, value): (&str, Option<&str>)| ToolTag { key: key.into(), value: value.map(Into::into) };
        Self {
            creator: user(tool.creator),
            updated_by: user(tool.updated_by),
            id: tool.id.into(),
            org_id: tool.organization.to_string(),
            created_at: tool.created_at.to_string(),
            updated_at: tool.updated_at.to_string(),
            name: tool.name.into(),
            description: tool.description.into(),
            deprecated: tool.deprecated,
            envvars: tool.envvars.into_iter().map(String::from).collect(),
            secret_envvars: tool.secret_envvars.into_iter().map(String::from).collect(),
            tags: tool.tags.iter().map(tag).collect(),
        }
    }
}
