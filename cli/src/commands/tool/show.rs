//! `lathe tool show`: shows a tool, or one of its versions with all details and its build log.

use api::wire::{Tool, ToolVersion};
use clap::Args;
use serde_json::{Value, json};

use super::list::{join_variables, render_tag};
use super::tool_at::ToolAt;
use super::version_arguments::{find_number, name_missing};
use crate::client::{Client, VersionFilter, read_all};
use crate::commands::completion;
use crate::commands::constraint::Constraint;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, escape_hidden};

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The tool's name or id, optionally with a version as below: weather@1.2.0
    #[arg(value_name = "TOOL[@VERSION]", add = completion::complete_tools())]
    tool: ToolAt,
    /// Show this version with its build log, such as 1.2.0; 1.2, 1 and ^1.2 stand for the newest live one that matches
    version: Option<Constraint>,
}

pub async fn run(client: &Client, arguments: &ShowArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let version = arguments.tool.combine(arguments.version.as_ref())?;
    let tool = client.find_tool(&arguments.tool.tool).await?;
    let Some(constraint) = version else { return show_tool(client, &tool, screen).await };
    let version = find_number(client, &tool, &constraint).await?;
    let detail = name_missing(client.get_version_detail(&tool.id, &version).await, &tool, &version)?;
    show_version(&detail, screen)
}

async fn show_tool(client: &Client, tool: &Tool, screen: Screen) -> anyhow::Result<Outcome> {
    let filter = VersionFilter { constraint: None, deprecated: Some(false) };
    let live: Vec<ToolVersion> = read_all(&client.list_versions(&tool.id, &filter).await?)?;
    let live: Vec<String> = live.iter().map(|version| version.version.to_string()).collect();
    let mut document = serde_json::to_value(tool)?;
    document["live_versions"] = json!(live);
    screen.answer(&document, || render_text(tool, &live))
}

fn render_text(tool: &Tool, live: &[String]) -> String {
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    let lines = [
        format!("name         {}", tool.name),
        format!("id           {}", tool.id),
        format!("description  {}", tool.description),
        format!("tags         {}", or_none(tool.tags.iter().map(render_tag).collect::<Vec<_>>().join(", "))),
        format!("variables    {}", or_none(join_variables(tool))),
        format!("state        {}", if tool.deprecated { "deprecated" } else { "live" }),
        format!("versions     {}", or_none(live.join(", "))),
        format!("created      {} by {}", cut_to_second(&tool.created_at), tool.creator.user_id),
        format!("changed      {} by {}", cut_to_second(&tool.updated_at), tool.updated_by.user_id),
    ];
    escape_hidden(&lines.join("\n"))
}

fn show_version(detail: &Value, screen: Screen) -> anyhow::Result<Outcome> {
    if screen.is_json() {
        return screen.print_document(detail);
    }
    for (name, value) in detail.as_object().into_iter().flatten().filter(|(name, _)| *name != "build_log") {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        screen.print_line(escape_hidden(&format!("{name:<28} {text}")))?;
    }
    if let Some(log) = detail["build_log"].as_str() {
        screen.print_line(format!("\n{}", escape_hidden(log.trim_end())))?;
    }
    Ok(Outcome::Done)
}
