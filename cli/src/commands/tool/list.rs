//! `lathe tool list`: lists tools.

use api::wire::{Tool, ToolTag};
use clap::Args;
use serde_json::json;

use crate::client::{Client, ToolFilter, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, render_table};

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only tools with this tag: KEY:VALUE, KEY:* for any value, KEY: for no value; repeatable
    #[arg(long = "tag", value_name = "KEY:VALUE")]
    tags: Vec<String>,
    /// List deprecated tools too
    #[arg(long)]
    all: bool,
    /// Maximum number of tools
    #[arg(long, default_value_t = 100, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub async fn run(client: &Client, arguments: ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let filter = ToolFilter { deprecated: (!arguments.all).then_some(false), tags: arguments.tags };
    let (documents, has_more) = client.list_tools(&filter, usize::try_from(arguments.limit)?).await?;
    if screen.is_json() {
        return screen.print_document(&json!({"tools": documents, "has_more": has_more}));
    }
    let tools: Vec<Tool> = read_all(&documents)?;
    if tools.is_empty() {
        screen.note(if filter.tags.is_empty() {
            "no tools; `lathe tool create NAME --description …` creates one"
        } else {
            "no tools with these tags; `lathe tool list` lists all"
        });
        return Ok(Outcome::Done);
    }
    screen.print_line(render_table(
        ["name", "id", "tags", "variables", "state", "description"],
        tools.iter().map(build_row),
    ))?;
    if has_more {
        screen.note("there are more tools; raise --limit");
    }
    Ok(Outcome::Done)
}

fn build_row(tool: &Tool) -> [String; 6] {
    [
        tool.name.clone(),
        tool.id.clone(),
        tool.tags.iter().map(render_tag).collect::<Vec<_>>().join(", "),
        join_variables(tool),
        if tool.deprecated { "deprecated" } else { "live" }.to_owned(),
        tool.description.clone(),
    ]
}

/// The names of a tool's variables.
pub fn join_variables(tool: &Tool) -> String {
    let secrets = tool.secret_envvars.iter().map(|name| format!("{name} (secret)"));
    tool.envvars.iter().cloned().chain(secrets).collect::<Vec<_>>().join(", ")
}

pub fn render_tag(tag: &ToolTag) -> String {
    match &tag.value {
        Some(value) => format!("{}={value}", tag.key),
        None => tag.key.clone(),
    }
}
