//! `lathe tool deprecate`

use anyhow::Context;
use clap::Args;
use serde_json::json;

use crate::client::Client;
use crate::commands::prompt;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Deprecated versions are refused to callers at once, and do not come back. Their history stays.
#[derive(Debug, Args)]
pub struct DeprecateArguments {
    /// The tool's name or id
    tool: String,
    /// Only versions that this constraint admits, for example 1.0.0 or '<2'; without it the tool as a whole
    #[arg(long, value_name = "CONSTRAINT")]
    versions: Option<String>,
    /// Do not ask
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
    screen.answer(&json!({"tool_id": tool.id, "versions": arguments.versions}), || format!("deprecated {what}"))?;
    Ok(Outcome::Done)
}
