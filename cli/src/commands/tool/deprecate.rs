//! `lathe tool deprecate`: deprecates a tool or some of its versions.

use anyhow::Context;
use clap::Args;
use serde_json::json;

use crate::client::Client;
use crate::commands::prompt;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Calls of deprecated versions are refused at once. Deprecation cannot be undone. The records of runs stay.
#[derive(Debug, Args)]
pub struct DeprecateArguments {
    /// The tool's name or id
    tool: String,
    /// Only versions that match this constraint, such as 1.0.0 or '<2' [default: the tool with all versions]
    #[arg(long, value_name = "CONSTRAINT")]
    versions: Option<String>,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
}

pub async fn run(client: &Client, arguments: &DeprecateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let what = match &arguments.versions {
        Some(constraint) => format!("{} {constraint}", tool.name),
        None => format!("{} with all its versions", tool.name),
    };
    if !arguments.yes && !prompt::confirm(&format!("Deprecate {what}?"), "add --yes")? {
        return Err(Failure::refused("nothing was deprecated", "answer y, or add --yes"));
    }
    match &arguments.versions {
        Some(constraint) => client.deprecate_versions(&tool.id, constraint).await.with_context(|| what.clone())?,
        None => client.deprecate_tool(&tool.id).await?,
    }
    screen.answer(&json!({"tool_id": tool.id, "versions": arguments.versions}), || format!("deprecated {what}"))
}
