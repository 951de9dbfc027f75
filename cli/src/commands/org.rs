//! `lathe org create`, `lathe org key` and `lathe org set`: work on the data directory itself, beside a running server or without one.

use std::str::FromStr;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use registry::{InvalidValue, IssuedKey, NewApiKey, NewOrganization, OrganizationId, Store, UserId};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::server::{self, DataArguments};

#[derive(Debug, Subcommand)]
pub enum OrgCommand {
    /// Create an organisation with its first user and key; the key is shown this once
    Create(CreateArguments),
    /// Make a key for a user when nobody is left who can sign in and make one; the key is shown this once
    Key(KeyArguments),
    /// Change a setting of an organisation; it counts from the next call on
    Set(SetArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// The organisation: letters, digits and . _ @ -
    name: String,
    /// Its first user, who may do everything
    #[arg(long)]
    user: String,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Debug, Args)]
pub struct KeyArguments {
    /// The organisation
    name: String,
    /// A user of it
    #[arg(long)]
    user: String,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The organisation
    name: String,
    /// Whether secrets of tools are taken out of what callers are answered, should a tool write them there
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
        OrgCommand::Set(arguments) => return set(arguments, screen).await,
        OrgCommand::Create(arguments) => {
            let new = NewOrganization { organization: parsed(&arguments.name)?, user: parsed(&arguments.user)? };
            open(&arguments.data).await?.create_organization(new).await?
        }
        OrgCommand::Key(arguments) => {
            let (organization, user): (OrganizationId, UserId) = (parsed(&arguments.name)?, parsed(&arguments.user)?);
            let new = NewApiKey { user, name: None, expires_at: None };
            open(&arguments.data).await?.create_api_key(&organization, new).await?
        }
    };
    screen.answer(&key_document(&key), || people_text(&key))?;
    Ok(Outcome::Done)
}

async fn set(arguments: SetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let organization: OrganizationId = parsed(&arguments.name)?;
    let is_on = arguments.redact_answers == OnOff::On;
    open(&arguments.data).await?.set_redacts_answers(&organization, is_on).await?;
    let document = json!({"organization": organization.as_str(), "redact_answers": is_on});
    let state = if is_on { "without" } else { "with" };
    screen.answer(&document, || {
        format!("{organization}: answers come {state} the secrets that a tool writes into them")
    })?;
    Ok(Outcome::Done)
}

async fn open(data: &DataArguments) -> anyhow::Result<Store> {
    let directory = data.directory()?;
    let opened = server::open_store(&directory).await;
    opened.with_context(|| format!("opening the data directory {}", directory.display()))
}

fn parsed<T: FromStr<Err = InvalidValue>>(text: &str) -> anyhow::Result<T> {
    text.parse().map_err(|error: InvalidValue| {
        Failure::usage(error.to_string(), "use 1 to 128 letters, digits and . _ @ -, such as acme or ada@acme")
    })
}

/// The keys are promised to scripts.
fn key_document(key: &IssuedKey) -> Value {
    json!({
        "organization": key.organization.as_str(),
        "user_id": key.user.as_str(),
        "api_key_id": key.api_key_id,
        "api_key": key.api_key.expose(),
    })
}

fn people_text(key: &IssuedKey) -> String {
    let (organization, user, api_key_id) = (key.organization.as_str(), key.user.as_str(), &key.api_key_id);
    format!(
        "organization  {organization}\nuser          {user}\napi_key_id    {api_key_id}\napi_key       {}\n\n\
         The key is not shown again. To use it:\n  lathe login --org {organization} --user {user} --api-key-id {api_key_id}",
        key.api_key.expose()
    )
}
