//! `lathe org create`: works on the data directory itself, beside a running server or without one.

use anyhow::Context;
use clap::{Args, Subcommand};
use registry::{IssuedKey, NewOrganization, OrganizationId, UserId};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::server::{self, DataArguments};

#[derive(Debug, Subcommand)]
pub enum OrgCommand {
    /// Create an organisation with its first user and key; the key is shown this once
    Create(CreateArguments),
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

pub async fn run(command: OrgCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let OrgCommand::Create(arguments) = command;
    let directory = arguments.data.directory()?;
    let store = server::open_store(&directory)
        .await
        .with_context(|| format!("opening the data directory {}", directory.display()))?;
    let key = store.create_organization(new_organization(&arguments)?).await?;
    screen.answer(&key_document(&key), || people_text(&key))?;
    Ok(Outcome::Done)
}

fn new_organization(arguments: &CreateArguments) -> anyhow::Result<NewOrganization> {
    let hint = "use 1 to 128 letters, digits and . _ @ -";
    Ok(NewOrganization {
        organization: OrganizationId::parse(&arguments.name)
            .map_err(|error| Failure::usage(error.to_string(), hint))?,
        user: UserId::parse(&arguments.user).map_err(|error| Failure::usage(error.to_string(), hint))?,
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
