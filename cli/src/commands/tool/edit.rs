//! `lathe tool edit`: changes the description and the tags of a tool.

use std::collections::BTreeSet;

use api::wire::Tool;
use clap::{ArgGroup, Args};
use serde_json::{Map, Value, json};

use super::tags;
use crate::client::Client;
use crate::commands::completion;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("change").required(true).multiple(true)))]
pub struct EditArguments {
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
    /// New description
    #[arg(long, group = "change")]
    description: Option<String>,
    /// Tag to add or change, with or without a value; repeatable
    #[arg(long = "tag", value_name = "KEY[=VALUE]", group = "change")]
    tags: Vec<String>,
    /// Tag to remove; repeatable
    #[arg(long = "untag", value_name = "KEY", group = "change")]
    untags: Vec<String>,
}

pub async fn run(client: &Client, arguments: &EditArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let changed = tags::read(&arguments.tags)?;
    let tool = client.find_tool(&arguments.tool).await?;
    let mut changes = Map::new();
    changes.extend(arguments.description.as_ref().map(|text| ("description".to_owned(), json!(text))));
    if !arguments.tags.is_empty() || !arguments.untags.is_empty() {
        changes.insert("tags".to_owned(), Value::Object(merge_changes(&tool, changed, &arguments.untags)?));
    }
    client.modify_tool(&tool.id, &Value::Object(changes.clone())).await?;
    changes.insert("id".to_owned(), json!(tool.id));
    screen.answer(&changes, || format!("changed {}", tool.name))
}

/// The tool's tags with the changes. The server replaces all tags.
fn merge_changes(tool: &Tool, changed: Map<String, Value>, untags: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut tags: Map<String, Value> = tool.tags.iter().map(|tag| (tag.key.clone(), json!(tag.value))).collect();
    // A tag that is given twice is removed once.
    for key in untags.iter().collect::<BTreeSet<_>>() {
        if tags.remove(key).is_none() {
            let hint = format!("`lathe tool show {}` shows its tags", tool.name);
            return Err(Failure::coded("not_found", format!("{} has no tag `{key}`", tool.name), hint));
        }
    }
    tags.extend(changed);
    Ok(tags)
}
