//! A version on the command line: its number, or a constraint for the newest live version that matches.

use api::wire::{Tool, ToolVersion};
use clap::Args;

use super::tool_at::ToolAt;
use crate::client::{Client, VersionFilter, read};
use crate::commands::completion;
use crate::commands::constraint::Constraint;
use crate::commands::not_found;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct VersionArguments {
    /// The tool's name or id, optionally with a version as below: weather@1.2.0
    #[arg(value_name = "TOOL[@VERSION]", add = completion::complete_tools())]
    tool: ToolAt,
    /// The version, if TOOL has none, such as 1.2.0; 1.2, 1 and ^1.2 stand for the newest live version that matches
    version: Option<Constraint>,
}

impl VersionArguments {
    /// Finds the tool and the number of the version.
    pub async fn find(&self, client: &Client) -> anyhow::Result<(Tool, String)> {
        let name = &self.tool.tool;
        let missing = || Failure::usage("the version is missing", format!("give it as {name}@VERSION"));
        let version = self.tool.combine(self.version.as_ref())?.ok_or_else(missing)?;
        let tool = client.find_tool(name).await?;
        let version = find_number(client, &tool, &version).await?;
        Ok((tool, version))
    }
}

/// The number of the version that is named, otherwise of the newest live version that matches.
pub async fn find_number(client: &Client, tool: &Tool, constraint: &Constraint) -> anyhow::Result<String> {
    if constraint.as_str().parse::<registry::Version>().is_ok() {
        return Ok(constraint.to_string());
    }
    let filter = VersionFilter { constraint: Some(constraint.to_string()), deprecated: Some(false) };
    let newest = client.list_versions(&tool.id, &filter).await?.first().map(read::<ToolVersion>).transpose()?;
    newest.map(|newest| newest.version.to_string()).ok_or_else(|| {
        let message = format!("there is no live version of {} that matches {constraint}", tool.name);
        Failure::coded("not_found", message, build_hint(tool))
    })
}

/// Names the version that a 404 is about.
pub fn name_missing<T>(answer: anyhow::Result<T>, tool: &Tool, version: &str) -> anyhow::Result<T> {
    not_found::name_missing(answer, &format!("version {version} of {}", tool.name), &build_hint(tool))
}

fn build_hint(tool: &Tool) -> String {
    format!("`lathe tool versions {}` lists its versions", tool.name)
}
