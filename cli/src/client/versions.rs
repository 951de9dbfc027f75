//! Versions of a tool: list, detail, deprecate.

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::request::{Call, Client};
use super::wire::{Answer, ToolVersion};

/// The most versions that one page of the contract holds.
const PAGE_VERSIONS_MAX: u64 = 50;

#[derive(Deserialize)]
struct VersionsPage {
    tool_versions: Vec<Value>,
    continuation_token: Option<u64>,
}

/// Which versions to list.
#[derive(Clone, Debug, Default)]
pub struct VersionFilter {
    pub constraint: Option<String>,
    pub deprecated: Option<bool>,
}

impl Client {
    /// All versions of a tool, newest first.
    pub async fn list_versions(&self, tool_id: &str, filter: &VersionFilter) -> anyhow::Result<Vec<Value>> {
        let mut versions = Vec::new();
        let mut token = 0;
        loop {
            let path = ["tool", tool_id, "version"];
            let call = Call::new(Method::GET, &path)
                .query_all("versions", &filter.constraint)
                .query_all("deprecated", filter.deprecated)
                .query_all("sort_by", ["-version.major", "-version.minor", "-version.patch"])
                .query("limit", PAGE_VERSIONS_MAX)
                .query("continuation_token", token);
            let page: VersionsPage = self.get(call).await?.body;
            versions.extend(page.tool_versions);
            match page.continuation_token {
                Some(next) if next != token => token = next,
                _ => return Ok(versions),
            }
        }
    }

    /// One version with its digests and its build log.
    pub async fn version_detail(&self, tool_id: &str, version: &str) -> anyhow::Result<Value> {
        Ok(self.get::<Value>(Call::new(Method::GET, &["tool", tool_id, "version", version])).await?.document)
    }

    pub async fn deprecate_versions(&self, tool_id: &str, constraint: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["tool", tool_id, "version", constraint])).await
    }
}

pub fn read_version(version: &Value) -> anyhow::Result<ToolVersion> {
    Ok(Answer::<ToolVersion>::read(version.clone(), "the server")?.body)
}
