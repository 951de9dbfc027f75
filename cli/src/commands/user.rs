//! `lathe user`: users of the organisation.

use api::wire::User;
use clap::{Args, Subcommand};
use serde_json::json;

use super::not_found::{self, Wanted};
use crate::client::{Client, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, table, to_the_second};
use variable::VariableCommand;

mod variable;

const HINT: &str = "`lathe user list` lists the users";

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a user; `lathe key create --user USER` creates their key
    Add(AddArguments),
    /// List users with their roles
    List,
    /// Change a user's role, from their next request on
    SetRole(SetRoleArguments),
    /// Remove a user with everything that acts for them or that they alone read; tools, versions, records and shared items stay
    Remove(RemoveArguments),
    /// Variables that every run of a user receives
    #[command(subcommand)]
    Variable(VariableCommand),
}

#[derive(Debug, Args)]
pub struct AddArguments {
    /// Name of the user: letters, digits and . _ @ -
    user: String,
    /// Role: admin, author, invoker, auditor, or a custom role
    #[arg(long)]
    role: String,
}

#[derive(Debug, Args)]
pub struct SetRoleArguments {
    /// Name of the user
    user: String,
    /// Role: admin, author, invoker, auditor, or a custom role
    role: String,
}

#[derive(Debug, Args)]
pub struct RemoveArguments {
    /// Name of the user
    user: String,
}

pub async fn run(command: UserCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        UserCommand::Add(arguments) => add(client, &arguments, screen).await,
        UserCommand::List => list(client, screen).await,
        UserCommand::SetRole(arguments) => set_role(client, &arguments, screen).await,
        UserCommand::Remove(arguments) => remove(client, &arguments, screen).await,
        UserCommand::Variable(command) => variable::run(command, client, screen).await,
    }
}

async fn add(client: &Client, AddArguments { user, role }: &AddArguments, screen: Screen) -> anyhow::Result<Outcome> {
    not_found::with_role(client.add_user(user, role).await, role, client.list_roles()).await?;
    let text = || format!("added {user} as {role}\n\nTo give them a key:\n  lathe key create --user {user}");
    screen.answer(&json!({"user_id": user, "role": role}), text)
}

async fn list(client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let documents = client.list_users().await?;
    if screen.is_json() {
        return screen.document(&json!({ "users": documents }));
    }
    let row = |user: User| [user.user_id, user.role, to_the_second(&user.created_at)];
    screen.line(table(["user", "role", "since"], read_all(&documents)?.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

async fn set_role(client: &Client, arguments: &SetRoleArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let SetRoleArguments { user, role } = arguments;
    let set = not_found::with_role(client.set_role(user, role).await, role, client.list_roles()).await;
    found(client, user, set).await?;
    screen.answer(&json!({"user_id": user, "role": role}), || format!("{user} has the role {role} now"))
}

async fn remove(client: &Client, arguments: &RemoveArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let user = &arguments.user;
    found(client, user, client.remove_user(user).await).await?;
    screen.answer(&json!({ "user_id": user }), || {
        format!(
            "removed {user}: their keys, tokens, variables, runs of agents, and the items of the Library that nobody else reads\n\n\
             Their tools, versions, records, agents and shared items stay. Another user with the id `{user}` gets none of them."
        )
    })
}

/// Names the user in the error for one that does not exist.
async fn found<T>(client: &Client, name: &str, answer: anyhow::Result<T>) -> anyhow::Result<T> {
    let wanted = Wanted { kind: "user", name, hint: HINT };
    not_found::suggested(answer, wanted, (client.list_users(), "user_id")).await
}
