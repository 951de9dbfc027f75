//! `lathe key`: API keys of users, and the keys that sign versions.

mod signing;

use std::time::Duration;

use api::wire::ApiKey;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use signing::SigningArguments;

use super::not_found;
use super::times::parse_duration;
use crate::client::{Client, KeyOwner, read_all};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, cut_to_second, render_table};

/// A cell without a value.
const EMPTY: &str = "-";

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key and show it once
    Create(CreateArguments),
    /// List your keys, or those of other users
    List(ListArguments),
    /// Revoke a key; its tokens expire within a second
    Revoke(RevokeArguments),
    /// List the public keys that sign versions of the organisation's tools
    Signing(SigningArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// The key's user [default: you]
    #[arg(long)]
    user: Option<String>,
    /// A name that says what the key is for
    #[arg(long)]
    name: Option<String>,
    /// Lifetime: a number with s, m, h, d or w, such as 90d [default: no end]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    expires_in: Option<Duration>,
    /// Time of expiry, such as 2030-01-31T12:00:00Z [default: none]
    #[arg(long, value_name = "TIME", conflicts_with = "expires_in")]
    expires_at: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// List the keys of all users
    #[arg(long)]
    all: bool,
    /// List the keys of this user
    #[arg(long, conflicts_with = "all")]
    user: Option<String>,
}

#[derive(Debug, Args)]
pub struct RevokeArguments {
    /// The key's id
    api_key_id: String,
}

pub async fn run(command: KeyCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        KeyCommand::Create(arguments) => create(client, &arguments, screen).await,
        KeyCommand::List(arguments) => list(client, &arguments, screen).await,
        KeyCommand::Revoke(arguments) => revoke(client, &arguments.api_key_id, screen).await,
        KeyCommand::Signing(arguments) => signing::run(client, &arguments, screen).await,
    }
}

async fn create(client: &Client, arguments: &CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let terms = json!({
        "name": arguments.name,
        "expires_in": arguments.expires_in.map(|duration| duration.as_secs()),
        "expires_at": arguments.expires_at,
    });
    let answer = client.create_key(arguments.user.as_deref(), terms).await?;
    let (key, organization) = (&answer.body, &client.credentials().organization);
    let text = || {
        let (user, id) = (&key.user_id, &key.api_key_id);
        let end = key.expires_at.as_deref().map_or_else(|| "never".to_owned(), cut_to_second);
        format!(
            "user        {user}\napi_key_id  {id}\napi_key     {}\nexpires     {end}\n\n\
             The key is not shown again. To use it:\n  lathe login --org {organization} --user {user} --api-key-id {id}",
            key.api_key.reveal()
        )
    };
    screen.answer(&answer.document, text)
}

async fn list(client: &Client, arguments: &ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let of = match &arguments.user {
        Some(user) => KeyOwner::User(user),
        None if arguments.all => KeyOwner::Everybody,
        None => KeyOwner::Me,
    };
    let documents: Vec<Value> = client.list_keys(of).await?;
    if screen.is_json() {
        return screen.print_document(&json!({ "api_keys": documents }));
    }
    if documents.is_empty() {
        screen.note("no keys; `lathe key create` creates one");
        return Ok(Outcome::Done);
    }
    let header = ["id", "user", "name", "created", "expires", "last used", "revoked"];
    screen.print_line(render_table(header, read_all(&documents)?.into_iter().map(build_row)))?;
    Ok(Outcome::Done)
}

fn build_row(key: ApiKey) -> [String; 7] {
    let time = |time: Option<String>| time.map_or_else(|| EMPTY.to_owned(), |time| cut_to_second(&time));
    [
        key.api_key_id,
        key.user_id,
        key.name.unwrap_or_else(|| EMPTY.to_owned()),
        cut_to_second(&key.created_at),
        time(key.expires_at),
        time(key.last_used_at),
        time(key.revoked_at),
    ]
}

/// Revokes a key. Revoking a key of another user needs an administrator's permission.
async fn revoke(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let hint = "`lathe key list` lists your keys, `lathe key list --all` those of all users";
    let what = format!("key `{id}`");
    let own = client.revoke_key(KeyOwner::Me, id).await;
    let is_another = own
        .as_ref()
        .is_err_and(|error| matches!(error.downcast_ref::<Failure>(), Some(Failure::Server { status: 404, .. })));
    let revoked = if is_another { client.revoke_key(KeyOwner::Everybody, id).await } else { own };
    not_found::name_missing(revoked, &what, hint)?;
    if id == client.credentials().api_key_id {
        screen.note("your login used this key; run `lathe login` with another one");
    }
    screen.answer(&json!({ "api_key_id": id }), || format!("revoked {id}"))
}
