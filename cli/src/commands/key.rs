//! `lathe key create|list|revoke`

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::absent::absent;
use crate::client::{ApiKey, Client, KeysOf};
use crate::failure::{Failure, Outcome};
use crate::home::Home;
use crate::output::{Screen, read_all, table, to_the_second};

/// What a cell shows that has nothing to show.
const NOTHING: &str = "-";

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key; it is shown this once
    Create(CreateArguments),
    /// List your own keys, or those of others
    List(ListArguments),
    /// Revoke a key; tokens made from it end within a second
    Revoke(RevokeArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Whose it is; your own when not given
    #[arg(long)]
    user: Option<String>,
    /// What it is for
    #[arg(long)]
    name: Option<String>,
    /// It ends after this long: a number with s, m, h, d or w, such as 90d
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    expires_in: Option<Duration>,
    /// It ends at this time, such as 2030-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "expires_in")]
    expires_at: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Everybody's
    #[arg(long)]
    all: bool,
    /// Those of one user
    #[arg(long, conflicts_with = "all")]
    user: Option<String>,
}

#[derive(Debug, Args)]
pub struct RevokeArguments {
    /// The key's id
    api_key_id: String,
}

pub async fn run(command: KeyCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        KeyCommand::Create(arguments) => create(&client, &arguments, screen).await,
        KeyCommand::List(arguments) => list(&client, &arguments, screen).await,
        KeyCommand::Revoke(arguments) => revoke(&client, &arguments.api_key_id, screen).await,
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
    let people = || {
        let (user, id) = (&key.user_id, &key.api_key_id);
        let end = key.expires_at.as_deref().map_or_else(|| "never".to_owned(), to_the_second);
        format!(
            "user        {user}\napi_key_id  {id}\napi_key     {}\nexpires     {end}\n\n\
             The key is not shown again. To use it:\n  lathe login --org {organization} --user {user} --api-key-id {id}",
            key.api_key.reveal()
        )
    };
    screen.answer(&answer.document, people)?;
    Ok(Outcome::Done)
}

async fn list(client: &Client, arguments: &ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let of = match &arguments.user {
        Some(user) => KeysOf::User(user),
        None if arguments.all => KeysOf::Everybody,
        None => KeysOf::Me,
    };
    let documents: Vec<Value> = client.list_keys(of).await?;
    if screen.is_json() {
        screen.document(&json!({ "api_keys": documents }))?;
        return Ok(Outcome::Done);
    }
    if documents.is_empty() {
        screen.note("no keys; `lathe key create` makes one");
        return Ok(Outcome::Done);
    }
    let header = ["id", "user", "name", "created", "expires", "last used", "revoked"];
    screen.line(table(header, read_all(documents)?.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

fn row(key: ApiKey) -> [String; 7] {
    let time = |time: Option<String>| time.map_or_else(|| NOTHING.to_owned(), |time| to_the_second(&time));
    [
        key.api_key_id,
        key.user_id,
        key.name.unwrap_or_else(|| NOTHING.to_owned()),
        to_the_second(&key.created_at),
        time(key.expires_at),
        time(key.last_used_at),
        time(key.revoked_at),
    ]
}

/// One's own key needs no permission; another's needs that of an administrator.
async fn revoke(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let hint = "`lathe key list` shows your keys, `lathe key list --all` everybody's";
    let what = format!("key `{id}`");
    let own = client.revoke_key(KeysOf::Me, id).await;
    let is_another = own
        .as_ref()
        .is_err_and(|error| matches!(error.downcast_ref::<Failure>(), Some(Failure::Server { status: 404, .. })));
    let revoked = if is_another { client.revoke_key(KeysOf::Everybody, id).await } else { own };
    absent(revoked, &what, hint)?;
    if id == client.credentials().api_key_id {
        screen.note("this was the key of your login: `lathe login` with another one");
    }
    screen.answer(&json!({ "api_key_id": id }), || format!("revoked {id}"))?;
    Ok(Outcome::Done)
}

/// Reads a number with a unit; a key ends after whole seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let seconds = |unit: char| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(60 * 60),
        'd' => Some(60 * 60 * 24),
        'w' => Some(60 * 60 * 24 * 7),
        _ => None,
    };
    let unit = text.chars().last().and_then(seconds);
    let number = text.get(..text.len().saturating_sub(1)).and_then(|digits| digits.parse::<u64>().ok());
    let product = unit.zip(number).and_then(|(unit, number)| number.checked_mul(unit));
    product.map(Duration::from_secs).ok_or_else(|| "give a number with s, m, h, d or w, such as 90d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("1s", 1), ("2m", 120), ("3h", 10_800), ("90d", 7_776_000), ("1w", 604_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "90", "-1d", "1.5h", "1 d", "1é", "99999999999999999999w"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
