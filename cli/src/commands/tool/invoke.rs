//! `lathe tool invoke`: runs a published version.

use api::wire::{Tool, ToolVersion};
use clap::Args;

use super::tool_at::ToolAt;
use crate::client::{Client, InvokeRequest, VersionFilter, read};
use crate::commands::constraint::Constraint;
use crate::commands::input::InputArguments;
use crate::commands::{completion, not_found};
use crate::failure::{Failure, Outcome};
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

#[derive(Debug, Args)]
pub struct InvokeArguments {
    /// The tool's name or id, optionally with a constraint for the newest live version that matches: weather,
    /// weather@1.2.0, weather@1.2, weather@1, weather@^1.2, 'weather@>=1.2,<2'
    #[arg(value_name = "TOOL[@CONSTRAINT]", add = completion::complete_tools())]
    tool: ToolAt,
    #[command(flatten)]
    input: InputArguments,
}

pub async fn run(client: &Client, arguments: &InvokeArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let constraint = arguments.tool.combine(None)?.unwrap_or_else(Constraint::any);
    let inputs = arguments.input.read()?;
    let tool = client.find_tool(&arguments.tool.tool).await?;
    let display = RunDisplay::start(&format!("running {}", tool.name));
    let request = InvokeRequest { tool_id: &tool.id, constraint: constraint.as_str(), inputs: &inputs };
    let answer = client.invoke(&request, |event| display.show(event)).await;
    let what = format!("live version of {} that matches {constraint}", tool.name);
    let hint = format!("`lathe tool versions {}` lists its versions", tool.name);
    drop(display);
    let answer = not_found::name_missing(add_newest(client, &tool, answer).await, &what, &hint)?;
    if screen.is_json() {
        screen.print_document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}

/// Adds the newest live version to the refusal of a deprecated one, or the command that lists all versions if none is live.
async fn add_newest<T>(client: &Client, tool: &Tool, answer: anyhow::Result<T>) -> anyhow::Result<T> {
    let Err(error) = answer else { return answer };
    let is_deprecated =
        matches!(error.downcast_ref::<Failure>(), Some(failure) if failure.code() == "version_deprecated");
    if !is_deprecated {
        return Err(error);
    }
    let filter = VersionFilter { constraint: None, deprecated: Some(false) };
    // The refusal is more important than an error of this call.
    let live = client.list_versions(&tool.id, &filter).await.unwrap_or_default();
    let newest = live.first().and_then(|newest| read::<ToolVersion>(newest).ok());
    let name = &tool.name;
    let advice = newest.map_or_else(
        || format!("`lathe tool versions {name}` lists its versions"),
        |newest| format!("`lathe tool invoke {name}@{}` runs the newest live version", newest.version),
    );
    Err(Failure::add_hint(error, advice))
}
