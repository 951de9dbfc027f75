//! `lathe tool deprecate`: deprecates a tool or some of its versions.

use api::wire::{Tool, ToolVersion};
use clap::Args;
use serde_json::json;

use super::tool_at::ToolAt;
use crate::client::{Client, VersionFilter, read_all};
use crate::commands::constraint::Constraint;
use crate::commands::{completion, not_found, prompt};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Calls of deprecated versions are refused at once. Deprecation cannot be undone. The records of runs stay.
#[derive(Debug, Args)]
pub struct DeprecateArguments {
    /// The tool's name or id, optionally with a constraint as --versions takes it: weather@1
    #[arg(value_name = "TOOL[@CONSTRAINT]", add = completion::complete_tools())]
    tool: ToolAt,
    /// Only versions that match this constraint: 1.0.0, 1 for all of 1.x, '<2' [default: the tool with all versions]
    #[arg(long, value_name = "CONSTRAINT")]
    versions: Option<Constraint>,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
}

pub async fn run(client: &Client, arguments: &DeprecateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let versions = arguments.tool.combine(arguments.versions.as_ref())?;
    let tool = client.find_tool(&arguments.tool.tool).await?;
    let what = match &versions {
        Some(constraint) => list_live_versions(client, &tool, constraint).await?,
        None => format!("{} with all its versions", tool.name),
    };
    if !arguments.yes && !prompt::confirm(&format!("Deprecate {what}?"), "add --yes")? {
        return Err(Failure::coded("not_confirmed", "nothing was deprecated", "answer y, or add --yes"));
    }
    match &versions {
        Some(constraint) => {
            let deprecated = client.deprecate_versions(&tool.id, constraint.as_str()).await;
            not_found::name_missing(deprecated, &what, &build_hint(&tool))?;
        }
        None => client.deprecate_tool(&tool.id).await?,
    }
    let constraint = versions.as_ref().map(Constraint::as_str);
    screen.answer(&json!({"tool_id": tool.id, "versions": constraint}), || format!("deprecated {what}"))
}

/// The live versions that match, by number, so that nobody deprecates more than meant.
async fn list_live_versions(client: &Client, tool: &Tool, constraint: &Constraint) -> anyhow::Result<String> {
    let filter = VersionFilter { constraint: Some(constraint.to_string()), deprecated: Some(false) };
    let matching: Vec<ToolVersion> = read_all(&client.list_versions(&tool.id, &filter).await?)?;
    if matching.is_empty() {
        let message = format!("no live version of {} matches {constraint}", tool.name);
        return Err(Failure::coded("not_found", message, build_hint(tool)));
    }
    let numbers: Vec<String> = matching.iter().map(|version| version.version.to_string()).collect();
    Ok(format!("{} {}", tool.name, numbers.join(", ")))
}

fn build_hint(tool: &Tool) -> String {
    format!("`lathe tool versions {} --live` lists the live versions", tool.name)
}
