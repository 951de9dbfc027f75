//! `lathe role`: roles of the organisation.

mod grants;

use api::wire::Role;
use clap::{Args, Subcommand};
use serde_json::json;

pub use grants::grant_text;

use super::not_found::{self, Wanted};
use crate::client::{Client, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, escape_hidden, render_table};

const HINT: &str = "`lathe role list` lists the roles";

#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// Create a custom role
    Create(GrantsArguments),
    /// List roles with their grants
    List,
    /// Show one role with its grants
    Show(NameArguments),
    /// Replace the grants of a custom role, from the next request of its users on
    Edit(GrantsArguments),
    /// Delete a custom role that no user has
    Delete(NameArguments),
}

#[derive(Debug, Args)]
pub struct GrantsArguments {
    /// Name of the role: a-z 0-9 _ -
    name: String,
    /// Permission, with conditions if any: 'Tool:InvokeTool if tool_name startsWith search_ and tag.env notEqual
    /// prod'; repeatable
    #[arg(long = "grant", value_name = "GRANT")]
    grants: Vec<String>,
    /// JSON file with a list of grants, for values that --grant cannot express; - for stdin
    #[arg(long, value_name = "FILE", conflicts_with = "grants")]
    file: Option<String>,
}

#[derive(Debug, Args)]
pub struct NameArguments {
    /// Name of the role
    name: String,
}

pub async fn run(command: RoleCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        RoleCommand::Create(arguments) => create(client, &arguments, screen).await,
        RoleCommand::List => list(client, screen).await,
        RoleCommand::Show(arguments) => show(client, &arguments.name, screen).await,
        RoleCommand::Edit(arguments) => edit(client, &arguments, screen).await,
        RoleCommand::Delete(arguments) => delete(client, &arguments.name, screen).await,
    }
}

async fn create(client: &Client, arguments: &GrantsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let GrantsArguments { name, grants, file } = arguments;
    let grants = grants::read(grants, file.as_deref())?;
    client.create_role(name, &grants).await?;
    screen.answer(&json!({"name": name, "grants": grants}), || {
        format!("created the role {name}\n\nTo give it to a user:\n  lathe user edit USER --role {name}")
    })
}

async fn edit(client: &Client, arguments: &GrantsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let GrantsArguments { name, grants, file } = arguments;
    let grants = grants::read(grants, file.as_deref())?;
    name_missing(client, name, client.replace_role(name, &grants).await).await?;
    screen.answer(&json!({"name": name, "grants": grants}), || format!("changed the role {name}"))
}

async fn list(client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let documents = client.list_roles().await?;
    if screen.is_json() {
        return screen.print_document(&json!({ "roles": documents }));
    }
    let row = |role: Role| {
        let grants: Vec<String> = role.grants.iter().map(grant_text).collect();
        [role.name, if role.built_in { "built in" } else { "own" }.to_owned(), grants.join("; ")]
    };
    screen.print_line(render_table(["role", "kind", "allows"], read_all(&documents)?.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

async fn show(client: &Client, name: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let answer = name_missing(client, name, client.show_role(name).await).await?;
    screen.answer(&answer.document, || {
        let Role { name, built_in, grants, .. } = &answer.body;
        let kind = if *built_in { "built in" } else { "own" };
        let lines = grants.iter().map(|grant| format!("\nallows  {}", grant_text(grant)));
        escape_hidden(&format!("role    {name}\nkind    {kind}{}", lines.collect::<String>()))
    })
}

async fn delete(client: &Client, name: &str, screen: Screen) -> anyhow::Result<Outcome> {
    name_missing(client, name, client.delete_role(name).await).await?;
    screen.answer(&json!({ "name": name }), || format!("deleted the role {name}"))
}

/// Names the role in the error for one that does not exist.
async fn name_missing<T>(client: &Client, name: &str, answer: anyhow::Result<T>) -> anyhow::Result<T> {
    let wanted = Wanted { kind: "role", name, hint: HINT };
    not_found::suggest_meant(answer, wanted, client.list_roles(), "name").await
}
