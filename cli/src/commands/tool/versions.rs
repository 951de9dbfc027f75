//! `lathe tool versions`: lists the versions of a tool, or shows one.

use anyhow::Context;
use api::wire::ToolVersion;
use clap::Args;
use serde_json::{Value, json};

use crate::client::{Client, VersionFilter, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, printable, table};

/// Length of an abbreviated commit hash.
const COMMIT_CHARACTERS: usize = 12;

#[derive(Debug, Args)]
pub struct VersionsArguments {
    /// The tool's name or id
    tool: String,
    /// Show one version with all its details and its build log
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["versions", "live"])]
    show: Option<String>,
    /// Only versions that match this constraint, such as '>=1.2,<2'
    #[arg(long, value_name = "CONSTRAINT")]
    versions: Option<String>,
    /// Only versions that are not deprecated
    #[arg(long)]
    live: bool,
}

pub async fn run(client: &Client, arguments: VersionsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    if let Some(version) = &arguments.show {
        let detail = client.version_detail(&tool.id, version).await.with_context(|| format!("version {version}"))?;
        return show(&detail, screen);
    }
    let filter = VersionFilter { constraint: arguments.versions, deprecated: arguments.live.then_some(false) };
    let documents = client.list_versions(&tool.id, &filter).await?;
    if screen.is_json() {
        return screen.document(&json!({ "tool_versions": documents }));
    }
    let versions: Vec<ToolVersion> = read_all(&documents)?;
    if versions.is_empty() {
        screen.note("no versions");
        return Ok(Outcome::Done);
    }
    screen
        .line(table(["version", "state", "commit", "directory", "published by", "when"], versions.iter().map(row)))?;
    Ok(Outcome::Done)
}

fn row(version: &ToolVersion) -> [String; 6] {
    [
        version.version.to_string(),
        if version.deprecated { "deprecated" } else { "live" }.to_owned(),
        version.tool_commit_hash.chars().take(COMMIT_CHARACTERS).collect(),
        version.project_directory.clone(),
        version.creator.user_id.clone(),
        version.created_at.clone(),
    ]
}

fn show(detail: &Value, screen: Screen) -> anyhow::Result<Outcome> {
    if screen.is_json() {
        return screen.document(detail);
    }
    for (name, value) in detail.as_object().into_iter().flatten().filter(|(name, _)| *name != "build_log") {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        screen.line(printable(&format!("{name:<28} {text}")))?;
    }
    if let Some(log) = detail["build_log"].as_str() {
        screen.line(format!("\n{}", printable(log.trim_end())))?;
    }
    Ok(Outcome::Done)
}
