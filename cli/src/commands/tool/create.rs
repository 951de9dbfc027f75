//! `lathe tool create`: registers a tool.

use clap::Args;
use serde_json::json;

use super::tags;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the tool: lower-case letters, digits and _, at most 64 characters
    name: String,
    /// What the tool does, for users and for models that choose a tool
    #[arg(long)]
    description: String,
    /// Tag, with or without a value; up to twenty times
    #[arg(long = "tag", value_name = "KEY[=VALUE]")]
    tags: Vec<String>,
}

pub async fn run(client: &Client, arguments: &CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let name = &arguments.name;
    let id = client.create_tool(name, &arguments.description, &tags::read(&arguments.tags)?).await?;
    screen.answer(&json!({"id": id, "name": name}), || format!("created {name} ({id})"))
}
