//! `lathe org`: changes organisations directly in the data directory, with or without a running server.

use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use registry::{InvalidValue, IssuedKey, NewApiKey, NewOrganization, Organization, OrganizationId, Store, UserId};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::{Screen, cut_to_second, render_table};
use crate::server::{self, DataArguments, Location};

#[derive(Debug, Subcommand)]
pub enum OrgCommand {
    /// Create an organisation with a first user, and show the user's API key once
    Create(CreateArguments),
    /// Create an API key for a user without signing in, and show it once
    Key(KeyArguments),
    /// Change a setting of an organisation, from its next request on
    Edit(EditArguments),
    /// List the organisations of a data directory
    List(DataArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the organisation: letters, digits and . _ @ -
    name: String,
    /// Its first user, an administrator
    #[arg(long)]
    user: String,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Debug, Args)]
pub struct KeyArguments {
    /// Name of the organisation
    name: String,
    /// A user of the organisation
    #[arg(long)]
    user: String,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Debug, Args)]
pub struct EditArguments {
    /// Name of the organisation
    name: String,
    /// Whether to remove tools' secrets from answers to callers
    #[arg(long, value_enum, required = true)]
    redact_answers: OnOff,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnOff {
    On,
    Off,
}

pub async fn run(command: OrgCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let key = match command {
        OrgCommand::Edit(arguments) => return edit(arguments, screen).await,
        OrgCommand::List(data) => return list(&data, screen).await,
        OrgCommand::Create(arguments) => {
            let new = NewOrganization {
                organization: parse_argument(&arguments.name)?,
                user: parse_argument(&arguments.user)?,
            };
            let location = arguments.data.find_location_of_server()?;
            let store = server::open_store(&location).await?;
            location.announce(screen);
            store.access().create_organization(new).await?
        }
        OrgCommand::Key(arguments) => {
            let (organization, user): (OrganizationId, UserId) =
                (parse_argument(&arguments.name)?, parse_argument(&arguments.user)?);
            let store = open_with(&organization, &arguments.data.find_location_of_server()?, screen).await?;
            let account = store.access().account(&organization, &user).await?;
            store.access().create_api_key(&organization, NewApiKey { account, name: None, expires_at: None }).await?
        }
    };
    screen.answer(&build_key_document(&key), || render_text(&key))
}

async fn edit(arguments: EditArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let organization: OrganizationId = parse_argument(&arguments.name)?;
    let is_on = arguments.redact_answers == OnOff::On;
    let store = open_with(&organization, &arguments.data.find_location()?, screen).await?;
    store.access().set_redacts_answers(&organization, is_on).await?;
    let document = json!({"organization": organization.as_str(), "redact_answers": is_on});
    screen.answer(&document, || {
        format!("{organization}: secrets are {}removed from answers to callers", if is_on { "" } else { "not " })
    })
}

async fn list(data: &DataArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let organizations = open(&data.find_location()?, screen).await?.access().list_organizations().await?;
    if screen.is_json() {
        let one = |found: &Organization| json!({"organization": found.id.as_str(), "created_at": found.created_at.to_string(), "users": found.users, "tools": found.tools});
        return screen.print_document(&json!({ "organizations": organizations.iter().map(one).collect::<Vec<_>>() }));
    }
    if organizations.is_empty() {
        screen.note("no organisations; `lathe org create NAME --user USER` creates one");
        return Ok(Outcome::Done);
    }
    let row = |found: Organization| {
        let since = cut_to_second(&found.created_at.to_string());
        [found.id.to_string(), found.users.to_string(), found.tools.to_string(), since]
    };
    screen.print_line(render_table(
        ["organization", "users", "live tools", "since"],
        organizations.into_iter().map(row),
    ))?;
    Ok(Outcome::Done)
}

/// Opens an existing installation, and says which one it is.
async fn open(location: &Location, screen: Screen) -> anyhow::Result<Store> {
    let store = server::open_existing_store(location).await?;
    location.announce(screen);
    Ok(store)
}

/// Opens an existing installation that has this organisation.
async fn open_with(organization: &OrganizationId, location: &Location, screen: Screen) -> anyhow::Result<Store> {
    let store = open(location, screen).await?;
    if store.access().list_organizations().await?.iter().any(|found| found.id == *organization) {
        return Ok(store);
    }
    let message = format!("there is no organisation `{organization}`");
    Err(Failure::coded("not_found", message, "`lathe org list` lists the organisations of a data directory"))
}

fn parse_argument<T: FromStr<Err = InvalidValue>>(text: &str) -> anyhow::Result<T> {
    text.parse().map_err(|error: InvalidValue| {
        Failure::usage(error.to_string(), "use 1 to 128 letters, digits and . _ @ -, such as acme or ada@acme")
    })
}

/// The JSON document of a key. Scripts rely on its keys.
fn build_key_document(key: &IssuedKey) -> Value {
    json!({
        "organization": key.organization.as_str(),
        "user_id": key.user.as_str(),
        "api_key_id": key.api_key_id,
        "api_key": key.api_key.expose(),
    })
}

fn render_text(key: &IssuedKey) -> String {
    let (organization, user, api_key_id) = (key.organization.as_str(), key.user.as_str(), &key.api_key_id);
    format!(
        "organization  {organization}\nuser          {user}\napi_key_id    {api_key_id}\napi_key       {}\n\n\
         The key is not shown again. To use it:\n  lathe login --org {organization} --user {user} --api-key-id {api_key_id}",
        key.api_key.expose()
    )
}
