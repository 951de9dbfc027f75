//! `lathe user`: users of the organisation.

use api::wire::User;
use clap::{Args, Subcommand};
use serde_json::json;

use super::not_found::{self, Wanted};
use crate::client::{Client, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};
use variable::VariableCommand;

mod variable;

const HINT: &str = "`lathe user list` lists the users";

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user; `lathe key create --user USER` creates their key
    Create(CreateArguments),
    /// List users with their roles
    List,
    /// Show a user with their role
    Show(UserArguments),
    /// Change a user's role, from their next request on
    Edit(EditArguments),
    /// Delete a user with everything that acts for them or that they alone read; tools, versions, records and shared items stay
    Delete(UserArguments),
    /// Variables that every run of a user receives
    #[command(subcommand)]
    Variable(VariableCommand),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the user: letters, digits and . _ @ -
    user: String,
    /// Role: admin, author, invoker, auditor, or a custom role
    #[arg(long)]
    role: String,
}

#[derive(Debug, Args)]
pub struct EditArguments {
    /// Name of the user
    user: String,
    /// New role: admin, author, invoker, auditor, or a custom role
    #[arg(long)]
    role: String,
}

#[derive(Debug, Args)]
pub struct UserArguments {
    /// Name of the user
    user: String,
}

pub async fn run(command: UserCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        UserCommand::Create(arguments) => create(client, &arguments, screen).await,
        UserCommand::List => list(client, screen).await,
        UserCommand::Show(arguments) => show(client, &arguments.user, screen).await,
        UserCommand::Edit(arguments) => edit(client, &arguments, screen).await,
        UserCommand::Delete(arguments) => delete(client, &arguments.user, screen).await,
        UserCommand::Variable(command) => variable::run(command, client, screen).await,
    }
}

async fn create(client: &Client, arguments: &CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let CreateArguments { user, role } = arguments;
    not_found::suggest_role(client.create_user(user, role).await, role, client.list_roles()).await?;
    let text = || format!("created {user} as {role}\n\nTo give them a key:\n  lathe key create --user {user}");
    screen.answer(&json!({"user_id": user, "role": role}), text)
}

async fn list(client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let documents = client.list_users().await?;
    if screen.is_json() {
        return screen.print_document(&json!({ "users": documents }));
    }
    let row = |user: User| [user.user_id, user.role, cut_to_second(&user.created_at)];
    screen.print_line(render_table(["user", "role", "since"], read_all(&documents)?.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

async fn show(client: &Client, user: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let shown = name_missing(client, user, client.show_user(user).await).await?;
    screen.answer(&shown.document, || {
        let User { user_id, org_id, role, created_at, .. } = &shown.body;
        let since = cut_to_second(created_at);
        format!("user          {user_id}\norganisation  {org_id}\nrole          {role}\nsince         {since}")
    })
}

async fn edit(client: &Client, arguments: &EditArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let EditArguments { user, role } = arguments;
    let set = not_found::suggest_role(client.set_role(user, role).await, role, client.list_roles()).await;
    name_missing(client, user, set).await?;
    screen.answer(&json!({"user_id": user, "role": role}), || format!("{user} has the role {role} now"))
}

async fn delete(client: &Client, user: &str, screen: Screen) -> anyhow::Result<Outcome> {
    name_missing(client, user, client.delete_user(user).await).await?;
    screen.answer(&json!({ "user_id": user }), || {
        format!(
            "deleted {user}: their keys, tokens, variables, runs of agents, and the items of the Library that nobody else reads\n\n\
             Their tools, versions, records, agents and shared items stay. Another user with the id `{user}` gets none of them."
        )
    })
}

/// Names the user in the error for one that does not exist.
async fn name_missing<T>(client: &Client, name: &str, answer: anyhow::Result<T>) -> anyhow::Result<T> {
    let wanted = Wanted { kind: "user", name, hint: HINT };
    not_found::suggest_meant(answer, wanted, client.list_users(), "user_id").await
}
