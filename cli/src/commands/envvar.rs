//! `lathe envvar`: the environment variables and secrets of a tool.

use api::wire::Tool;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::input;
use crate::client::Client;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum EnvvarCommand {
    /// Set variables, all or none; existing ones get the new value
    Set(SetArguments),
    /// Remove variables, all or none; refused while a live version requires one of them
    Unset(UnsetArguments),
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The tool's name or id
    tool: String,
    /// Variables to set; NAME=- reads the value from stdin, NAME alone takes it from the environment
    #[arg(required = true, value_name = "NAME[=VALUE]")]
    variables: Vec<String>,
    /// Create new variables as secrets; existing ones stay what they are
    #[arg(long)]
    secret: bool,
}

#[derive(Debug, Args)]
pub struct UnsetArguments {
    /// The tool's name or id
    tool: String,
    /// Names of the variables to remove
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

pub async fn run(command: EnvvarCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        EnvvarCommand::Set(arguments) => set(&client, &arguments, screen).await,
        EnvvarCommand::Unset(arguments) => unset(&client, &arguments, screen).await,
    }
}

async fn set(client: &Client, arguments: &SetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let variables = input::pairs(&arguments.variables)?;
    let tool = client.find_tool(&arguments.tool).await?;
    let (mut inserts, mut updates) = (Vec::<Value>::new(), Vec::<Value>::new());
    for (name, value) in &variables {
        if is_known(&tool, name) {
            updates.push(json!({"name": name, "value": value}));
        } else {
            inserts.push(json!({"name": name, "value": value, "is_secret": arguments.secret}));
        }
    }
    let counts = (inserts.len(), updates.len());
    client.modify_envvars(&tool.id, json!({"inserts": inserts, "updates": updates})).await?;
    let document = json!({"tool_id": tool.id, "inserted": counts.0, "updated": counts.1});
    screen.answer(&document, || format!("{}: {} new, {} changed", tool.name, counts.0, counts.1))
}

async fn unset(client: &Client, arguments: &UnsetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let deletes: Vec<Value> = arguments.names.iter().map(|name| json!({ "name": name })).collect();
    client.modify_envvars(&tool.id, json!({ "deletes": deletes })).await?;
    let document = json!({"tool_id": tool.id, "deleted": arguments.names.len()});
    screen.answer(&document, || format!("{}: {} removed", tool.name, arguments.names.join(", ")))
}

fn is_known(tool: &Tool, name: &str) -> bool {
    tool.envvars.iter().chain(&tool.secret_envvars).any(|known| known == name)
}
