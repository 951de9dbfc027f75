//! `lathe tool versions`: lists the versions of a tool.

use api::wire::ToolVersion;
use clap::Args;
use serde_json::json;

use super::tool_at::ToolAt;
use crate::client::{Client, VersionFilter, read_all};
use crate::commands::completion;
use crate::commands::constraint::Constraint;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};

/// Length of an abbreviated commit hash.
const COMMIT_CHARACTERS: usize = 12;

#[derive(Debug, Args)]
pub struct VersionsArguments {
    /// The tool's name or id, optionally with a constraint as --versions takes it: weather@1
    #[arg(value_name = "TOOL[@CONSTRAINT]", add = completion::complete_tools())]
    tool: ToolAt,
    /// Only versions that match this constraint, such as 1, ^1.2 or '>=1.2,<2'
    #[arg(long, value_name = "CONSTRAINT")]
    versions: Option<Constraint>,
    /// Only versions that are not deprecated
    #[arg(long)]
    live: bool,
}

pub async fn run(client: &Client, arguments: VersionsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let versions = arguments.tool.combine(arguments.versions.as_ref())?;
    let tool = client.find_tool(&arguments.tool.tool).await?;
    let filter = VersionFilter {
        constraint: versions.map(|constraint| constraint.to_string()),
        deprecated: arguments.live.then_some(false),
    };
    let documents = client.list_versions(&tool.id, &filter).await?;
    if screen.is_json() {
        return screen.print_document(&json!({ "tool_versions": documents }));
    }
    let versions: Vec<ToolVersion> = read_all(&documents)?;
    if versions.is_empty() {
        screen.note("no versions");
        return Ok(Outcome::Done);
    }
    screen.print_line(render_table(
        ["version", "state", "commit", "directory", "published by", "when"],
        versions.iter().map(build_row),
    ))?;
    Ok(Outcome::Done)
}

fn build_row(version: &ToolVersion) -> [String; 6] {
    [
        version.version.to_string(),
        if version.deprecated { "deprecated" } else { "live" }.to_owned(),
        version.tool_commit_hash.chars().take(COMMIT_CHARACTERS).collect(),
        version.project_directory.clone(),
        version.creator.user_id.clone(),
        cut_to_second(&version.created_at),
    ]
}
