//! Versions of a tool: list, show, deprecate.

use api::wire::ToolVersionList;
use reqwest::Method;
use serde_json::Value;

use super::request::{Call, Client};

/// Maximum versions per page, from the API contract.
const PAGE_VERSIONS_MAX: u64 = 50;

/// A filter on versions.
#[derive(Clone, Debug, Default)]
pub struct VersionFilter {
    pub constraint: Option<String>,
    pub deprecated: Option<bool>,
}

impl Client {
    /// Lists all versions of a tool, highest first.
    pub async fn list_versions(&self, tool_id: &str, filter: &VersionFilter) -> anyhow::Result<Vec<Value>> {
        let path = ["tool", tool_id, "version"];
        let call = Call::new(Method::GET, &path)
            .query_all("versions", &filter.constraint)
            .query_all("deprecated", filter.deprecated)
            .query_all("sort_by", ["-version.major", "-version.minor", "-version.patch"])
            .query("limit", PAGE_VERSIONS_MAX);
        self.read_all_pages::<ToolVersionList>(call).await
    }

    /// Returns one version with its digests and its build log.
    pub async fn get_version_detail(&self, tool_id: &str, version: &str) -> anyhow::Result<Value> {
        Ok(self.get::<Value>(Call::new(Method::GET, &["tool", tool_id, "version", version])).await?.document)
    }

    pub async fn deprecate_versions(&self, tool_id: &str, constraint: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["tool", tool_id, "version", constraint])).await
    }
}
