//! Tools: create, find, list, deprecate, change variables.

use std::collections::{BTreeMap, BTreeSet};

use api::wire::{CreatedTool, ListPage as _, Tool, ToolList};
use bytes::Bytes;
use registry::{ToolName, closest};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::decoded_response::{DecodedResponse, read, read_all};
use super::request::{Call, Client};
use crate::failure::Failure;

/// Maximum tools per page, from the API contract.
const PAGE_TOOLS_MAX: usize = 20;
/// Tools whose names are compared with that of a tool that does not exist: 25 requests.
const COMPARED_TOOLS_MAX: usize = 500;

/// A filter on tools.
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
        let created: DecodedResponse<CreatedTool> = self.get(Call::new(Method::POST, &["tool", ""]).body(body)).await?;
        Ok(created.body.id)
    }

    /// Lists at most `tools_max` tools, and returns whether there are more.
    pub async fn list_tools(&self, filter: &ToolFilter, tools_max: usize) -> anyhow::Result<(Vec<Value>, bool)> {
        let pages = self.read_pages_while::<ToolList>(build_filtered_call(filter), |tools| tools.len() < tools_max);
        let (mut tools, has_more_pages) = pages.await?;
        let has_more = has_more_pages || tools.len() > tools_max;
        tools.truncate(tools_max);
        Ok((tools, has_more))
    }

    /// Finds the live tool with a name, or the tool with an id.
    pub async fn find_tool(&self, name_or_id: &str) -> anyhow::Result<Tool> {
        if let Some(found) = self.find_live_tool(name_or_id).await? {
            return Ok(found);
        }
        match self.find_deprecated_tool(name_or_id).await? {
            Some(tool) => Err(explain_deprecated(&tool)),
            None => Err(self.explain_missing_tool(name_or_id).await),
        }
    }

    /// Finds the tool of some records: the live one with a name, else the last deprecated one, or the tool with an id.
    pub async fn find_tool_of_records(&self, name_or_id: &str) -> anyhow::Result<Tool> {
        if let Some(found) = self.find_live_tool(name_or_id).await? {
            return Ok(found);
        }
        match self.find_deprecated_tool(name_or_id).await? {
            Some(tool) => Ok(tool),
            None => Err(self.explain_missing_tool(name_or_id).await),
        }
    }

    /// The error for a name or an id without a tool, with the tool that was probably meant.
    async fn explain_missing_tool(&self, name_or_id: &str) -> anyhow::Error {
        let filter = ToolFilter { deprecated: Some(false), tags: Vec::new() };
        // Without the list, the error has no suggestion.
        let (tools, _) = self.list_tools(&filter, COMPARED_TOOLS_MAX).await.unwrap_or_default();
        explain_missing(name_or_id, tools.iter().filter_map(|tool| tool["name"].as_str()))
    }

    /// The live tool with a name, or the tool with an id.
    async fn find_live_tool(&self, name_or_id: &str) -> anyhow::Result<Option<Tool>> {
        if is_id(name_or_id) { self.get_tool_by_id(name_or_id).await } else { self.find_tool_by_name(name_or_id).await }
    }

    /// The last deprecated tool with a name. Another tool may have the name of a deprecated one.
    async fn find_deprecated_tool(&self, name: &str) -> anyhow::Result<Option<Tool>> {
        let filter = ToolFilter { deprecated: Some(true), tags: Vec::new() };
        let tools: Vec<Tool> = read_all(&self.read_all_pages::<ToolList>(build_filtered_call(&filter)).await?)?;
        Ok(tools.into_iter().filter(|tool| tool.name == name).max_by(|a, b| a.updated_at.cmp(&b.updated_at)))
    }

    async fn get_tool_by_id(&self, id: &str) -> anyhow::Result<Option<Tool>> {
        self.find_tools_by_id(&[id]).await?.first().map(read).transpose()
    }

    async fn find_tool_by_name(&self, name: &str) -> anyhow::Result<Option<Tool>> {
        let filter = ToolFilter { deprecated: Some(false), tags: Vec::new() };
        let is_named = |tool: &Value| tool["name"] == name;
        let (tools, _) = self
            .read_pages_while::<ToolList>(build_filtered_call(&filter), |tools| !tools.iter().any(is_named))
            .await?;
        tools.iter().find(|tool| is_named(tool)).map(read).transpose()
    }

    /// Returns the tools with these ids, at most [`PAGE_TOOLS_MAX`].
    async fn find_tools_by_id(&self, ids: &[&str]) -> anyhow::Result<Vec<Value>> {
        let call = Call::new(Method::GET, &["tool", ""]).query_all("id", ids).query("limit", PAGE_TOOLS_MAX);
        let page: Value = self.get(call).await?.body;
        read(&page[ToolList::ITEMS])
    }

    /// Returns the names of tools by id. Ids without a tool are left out.
    pub async fn find_tool_names<'id>(
        &self,
        ids: impl Iterator<Item = &'id str>,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let ids: Vec<&str> = ids.collect::<BTreeSet<_>>().into_iter().collect();
        let mut names = BTreeMap::new();
        for page_ids in ids.chunks(PAGE_TOOLS_MAX) {
            let tools: Vec<Tool> = read_all(&self.find_tools_by_id(page_ids).await?)?;
            names.extend(tools.into_iter().map(|tool| (tool.id, tool.name)));
        }
        Ok(names)
    }

    /// Changes the description or the tags of a tool.
    pub async fn modify_tool(&self, id: &str, changes: &Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["tool", id]).body(changes.clone())).await
    }

    /// Returns the archive of the Python package for authors.
    pub async fn get_tool_scaffold(&self) -> anyhow::Result<Bytes> {
        self.get_bytes(Call::new(Method::GET, &["tool", "amigo_tool_scaffold.tar.gz"])).await
    }

    pub async fn deprecate_tool(&self, id: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["tool", id])).await
    }

    pub async fn modify_envvars(&self, id: &str, changes: Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["tool", id, "envvar"]).body(changes)).await
    }
}

/// The error for a name or an id without a tool. A hint suggests only names that a tool may have.
fn explain_missing<'n>(name_or_id: &str, names: impl IntoIterator<Item = &'n str>) -> anyhow::Error {
    let hint = match name_or_id.split_once('@') {
        Some((name, _)) => format!("name the tool without a version: `{name}`"),
        None if let Some(meant) = closest(name_or_id, names) => {
            format!("did you mean `{meant}`? `lathe tool list` lists the tools")
        }
        None if ToolName::parse(name_or_id).is_ok() && !is_id(name_or_id) => format!(
            "`lathe tool list` lists the tools; `lathe tool create {name_or_id} --description …` creates this one"
        ),
        None => "`lathe tool list` lists the tools".to_owned(),
    };
    Failure::coded("not_found", format!("there is no tool `{name_or_id}`"), hint)
}

/// The error for a name that only a deprecated tool has.
fn explain_deprecated(Tool { name, id, updated_at, updated_by, .. }: &Tool) -> anyhow::Error {
    Failure::coded(
        "not_found",
        format!("the tool `{name}` was deprecated on {updated_at} by {}", updated_by.user_id),
        format!(
            "its id is {id}; `lathe tool list --all` lists deprecated tools, `lathe history list --tool {name}` its runs"
        ),
    )
}

fn build_filtered_call(filter: &ToolFilter) -> Call<'static> {
    Call::new(Method::GET, &["tool", ""])
        .query_all("deprecated", filter.deprecated)
        .query_all("tag", &filter.tags)
        .query("limit", PAGE_TOOLS_MAX)
}

/// Whether a text has the form of an id. A name can have it too; the id wins, since scripts store ids.
fn is_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
