//! `lathe user variable`: the variables that every run of a user receives.

use api::wire::UserVariable;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::client::Client;
use crate::commands::input;
use crate::commands::not_found::{self, Wanted};
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};

const USERS_HINT: &str = "`lathe user list` lists the users";

/// The caller, in paths of the API.
const ME: &str = "me";

#[derive(Debug, Subcommand)]
pub enum VariableCommand {
    /// List variables; the values of sensitive ones are never shown
    List(Owner),
    /// Set variables, one after the other; existing ones get the new value
    Set(SetArguments),
    /// Remove variables
    Unset(UnsetArguments),
}

/// The user who has the variables.
#[derive(Debug, Args)]
pub struct Owner {
    /// The user [default: the one who is logged in]
    #[arg(long, value_name = "USER")]
    user: Option<String>,
}

#[derive(Debug, Args)]
pub struct SetArguments {
    #[command(flatten)]
    owner: Owner,
    /// Variables to set; NAME=- reads the value from stdin, NAME alone takes it from the environment
    #[arg(required = true, value_name = "NAME[=VALUE]")]
    variables: Vec<String>,
    /// Remove the values from everything that is stored or shown
    #[arg(long)]
    sensitive: bool,
}

#[derive(Debug, Args)]
pub struct UnsetArguments {
    #[command(flatten)]
    owner: Owner,
    /// Names of the variables to remove
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

pub async fn run(command: VariableCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        VariableCommand::List(owner) => list(client, &owner, screen).await,
        VariableCommand::Set(arguments) => set(client, &arguments, screen).await,
        VariableCommand::Unset(arguments) => unset(client, &arguments, screen).await,
    }
}

impl Owner {
    fn id(&self) -> &str {
        self.user.as_deref().unwrap_or(ME)
    }

    fn name_missing<T>(&self, answer: anyhow::Result<T>) -> anyhow::Result<T> {
        not_found::name_missing(answer, &format!("user `{}`", self.id()), USERS_HINT)
    }
}

async fn list(client: &Client, owner: &Owner, screen: Screen) -> anyhow::Result<Outcome> {
    let answer = owner.name_missing(client.list_user_variables(owner.id()).await)?;
    if screen.is_json() {
        return screen.print_document(&answer.document);
    }
    let variables = answer.body.variables;
    if variables.is_empty() {
        screen.note("no variables; `lathe user variable set NAME=VALUE` sets one");
        return Ok(Outcome::Done);
    }
    screen.print_line(render_table(["name", "value", "set by", "set at"], variables.iter().map(build_row)))?;
    Ok(Outcome::Done)
}

fn build_row(variable: &UserVariable) -> [String; 4] {
    let UserVariable { name, value, updated_by, updated_at, .. } = variable;
    let value = value.clone().unwrap_or_else(|| "(sensitive)".to_owned());
    [name.clone(), value, updated_by.clone(), cut_to_second(updated_at)]
}

async fn set(client: &Client, arguments: &SetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let variables = input::read_pairs(&arguments.variables)?;
    for (name, value) in &variables {
        let body = json!({"name": name, "value": value, "is_sensitive": arguments.sensitive});
        arguments.owner.name_missing(client.set_user_variable(arguments.owner.id(), body).await)?;
    }
    let names: Vec<_> = variables.keys().map(String::as_str).collect();
    screen.answer(&json!({ "set": names }), || format!("set {}", names.join(", ")))
}

async fn unset(client: &Client, arguments: &UnsetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    for name in &arguments.names {
        let removed = client.remove_user_variable(arguments.owner.id(), name).await;
        let wanted = Wanted { kind: "variable", name, hint: "`lathe user variable list` lists the variables" };
        let listed = async {
            let listed = client.list_user_variables(arguments.owner.id()).await?.document;
            Ok(listed["variables"].as_array().cloned().unwrap_or_default())
        };
        not_found::suggest_meant(removed, wanted, listed, "name").await?;
    }
    screen.answer(&json!({ "removed": arguments.names }), || format!("removed {}", arguments.names.join(", ")))
}
