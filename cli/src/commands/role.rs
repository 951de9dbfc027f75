//! `lathe role create|list|show|delete`

mod grants;

use clap::{Args, Subcommand};
use serde_json::json;

pub use grants::grant_text;

use super::absent::absent;
use crate::client::{Client, Role};
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::{Screen, printable, read_all, table};

const HINT: &str = "`lathe role list` shows what there is";

#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// Make a role of your own
    Create(CreateArguments),
    /// List roles with what they allow
    List,
    /// Show one role
    Show(NameArguments),
    /// Delete a role of your own that no user has
    Delete(NameArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// The role: a-z 0-9 _ -
    name: String,
    /// A permission, or one for some tools: 'Tool:InvokeTool if tool_name startsWith search_ and tag.env notEqual prod'
    #[arg(long = "grant", value_name = "GRANT")]
    grants: Vec<String>,
    /// A JSON list of grants, for values that --grant cannot spell; - for stdin
    #[arg(long, value_name = "FILE", conflicts_with = "grants")]
    file: Option<String>,
    /// Give a role that exists these grants instead of its own
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, Args)]
pub struct NameArguments {
    name: String,
}

pub async fn run(command: RoleCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        RoleCommand::Create(arguments) => create(&client, &arguments, screen).await,
        RoleCommand::List => list(&client, screen).await,
        RoleCommand::Show(arguments) => show(&client, &arguments.name, screen).await,
        RoleCommand::Delete(arguments) => delete(&client, &arguments.name, screen).await,
    }
}

async fn create(client: &Client, arguments: &CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let CreateArguments { name, file, replace, .. } = arguments;
    let grants = grants::read(&arguments.grants, file.as_deref())?;
    if *replace {
        absent(client.replace_role(name, &grants).await, &format!("role `{name}`"), HINT)?;
    } else {
        client.create_role(name, &grants).await?;
    }
    let what = if *replace { "changed" } else { "made" };
    let people = || format!("{what} the role {name}\n\nTo give it to a user:\n  lathe user set-role USER {name}");
    screen.answer(&json!({"name": name, "grants": grants}), people)?;
    Ok(Outcome::Done)
}

async fn list(client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let documents = client.list_roles().await?;
    if screen.is_json() {
        screen.document(&json!({ "roles": documents }))?;
        return Ok(Outcome::Done);
    }
    let row = |role: Role| {
        let grants: Vec<String> = role.grants.iter().map(grant_text).collect();
        [role.name, if role.built_in { "built in" } else { "own" }.to_owned(), grants.join("; ")]
    };
    screen.line(table(["role", "kind", "allows"], read_all(documents)?.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

async fn show(client: &Client, name: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let answer = absent(client.show_role(name).await, &format!("role `{name}`"), HINT)?;
    screen.answer(&answer.document, || {
        let Role { name, built_in, grants } = &answer.body;
        let kind = if *built_in { "built in" } else { "own" };
        let lines = grants.iter().map(|grant| format!("\nallows  {}", grant_text(grant)));
        printable(&format!("role    {name}\nkind    {kind}{}", lines.collect::<String>()))
    })?;
    Ok(Outcome::Done)
}

async fn delete(client: &Client, name: &str, screen: Screen) -> anyhow::Result<Outcome> {
    absent(client.delete_role(name).await, &format!("role `{name}`"), HINT)?;
    screen.answer(&json!({ "name": name }), || format!("deleted the role {name}"))?;
    Ok(Outcome::Done)
}
