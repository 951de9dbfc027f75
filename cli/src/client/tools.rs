//! Tools: create, find, list, deprecate, variables.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::request::{Call, Client};
use super::wire::{Answer, Tool};
use crate::failure::Failure;

/// The most tools that one page of the contract holds.
const PAGE_TOOLS_MAX: usize = 20;

#[derive(Deserialize)]
struct Created {
    id: String,
}

#[derive(Deserialize)]
struct ToolsPage {
    tools: Vec<Value>,
    continuation_token: Option<u64>,
}

/// Which tools to list.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    pub deprecated: Option<bool>,
    pub tags: Vec<String>,
}

impl Client {
    pub async fn create_tool(
        &self,
        name: &str,
        description: &str,
        tags: &Map<String, Value>,
    ) -> anyhow::Result<String> {
        let body = json!({"name": name, "description": description, "tags": tags});
        let created: Answer<Created> = self.get(Call::new(Method::POST, &["tool", ""]).body(body)).await?;
        Ok(created.body.id)
    }

    /// At most `tools_max` tools, and whether there are more.
    pub async fn list_tools(&self, filter: &ToolFilter, tools_max: usize) -> anyhow::Result<(Vec<Value>, bool)> {
        let mut tools = Vec::new();
        let mut token = 0;
        loop {
            let page = self.tools_page(filter, token).await?;
            tools.extend(page.tools);
            match page.continuation_token {
                Some(next) if tools.len() < tools_max && next != token => token = next,
                next => {
                    let has_more = next.is_some() || tools.len() > tools_max;
                    tools.truncate(tools_max);
                    return Ok((tools, has_more));
                }
            }
        }
    }

    async fn tools_page(&self, filter: &ToolFilter, token: u64) -> anyhow::Result<ToolsPage> {
        let call = Call::new(Method::GET, &["tool", ""])
            .query_all("deprecated", filter.deprecated)
            .query_all("tag", &filter.tags)
            .query("limit", PAGE_TOOLS_MAX)
            .query("continuation_token", token);
        Ok(self.get::<ToolsPage>(call).await?.body)
    }

    /// The live tool of that name, or the tool of that id.
    pub async fn find_tool(&self, name_or_id: &str) -> anyhow::Result<Tool> {
        let found =
            if is_id(name_or_id) { self.tool_by_id(name_or_id).await? } else { self.tool_by_name(name_or_id).await? };
        found.ok_or_else(|| {
            Failure::refused(
                format!("there is no tool `{name_or_id}`"),
                format!(
                    "`lathe tool list` shows what there is; `lathe tool create {name_or_id} --description …` makes it"
                ),
            )
        })
    }

    async fn tool_by_id(&self, id: &str) -> anyhow::Result<Option<Tool>> {
        let page: Answer<ToolsPage> = self.get(Call::new(Method::GET, &["tool", ""]).query("id", id)).await?;
        page.body.tools.first().map(read_tool).transpose()
    }

    async fn tool_by_name(&self, name: &str) -> anyhow::Result<Option<Tool>> {
        let filter = ToolFilter { deprecated: Some(false), tags: Vec::new() };
        let mut token = 0;
        loop {
            let page = self.tools_page(&filter, token).await?;
            if let Some(tool) = page.tools.iter().find(|tool| tool["name"] == name) {
                return read_tool(tool).map(Some);
            }
            match page.continuation_token {
                Some(next) if next != token => token = next,
                _ => return Ok(None),
            }
        }
    }

    /// Names by id, for as many of these ids as there are tools.
    pub async fn tool_names<'id>(
        &self,
        ids: impl Iterator<Item = &'id str>,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let ids: Vec<&str> = ids.collect::<BTreeSet<_>>().into_iter().collect();
        let mut names = BTreeMap::new();
        for page_ids in ids.chunks(PAGE_TOOLS_MAX) {
            let call = Call::new(Method::GET, &["tool", ""]).query_all("id", page_ids).query("limit", PAGE_TOOLS_MAX);
            for tool in self.get::<ToolsPage>(call).await?.body.tools {
                let tool = read_tool(&tool)?;
                names.insert(tool.id, tool.name);
            }
        }
        Ok(names)
    }

    pub async fn deprecate_tool(&self, id: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["tool", id])).await
    }

    pub async fn modify_envvars(&self, id: &str, changes: Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["tool", id, "envvar"]).body(changes)).await
    }
}

pub fn read_tool(tool: &Value) -> anyhow::Result<Tool> {
    Ok(Answer::<Tool>::read(tool.clone(), "the server")?.body)
}

/// Names may look like ids too; the id wins, as it is what scripts store.
fn is_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
