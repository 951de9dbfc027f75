//! `lathe preference`: wishes of the user, each under a key.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::family::{AmountArguments, Family, ScopeArguments};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const PREFERENCES: Family = Family {
    noun: "preference",
    plural: "preferences",
    list_command: "`lathe preference list`",
    path: "preferences",
    id: "preference_id",
    key: Some("key"),
    columns: ["key", "source", "value"],
    content: "value",
};

#[derive(Debug, Subcommand)]
pub enum PreferenceCommand {
    /// Set a preference, in place of an earlier value
    Set(SetArguments),
    /// List preferences, newest first
    List(PreferenceListArguments),
    /// Show a preference with its earlier values
    Show(KeyArguments),
    /// Remove a preference
    Unset(KeyArguments),
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The key, such as timezone or tone
    key: String,
    /// The value: JSON, or else a text
    value: String,
    /// How the preference is known
    #[arg(long, value_parser = ["explicit", "learned", "inferred", "imported", "manual"])]
    source: Option<String>,
    /// What the preference is about
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct KeyArguments {
    /// The key
    key: String,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct PreferenceListArguments {
    /// Only preferences that are known in this way
    #[arg(long, value_parser = ["explicit", "learned", "inferred", "imported", "manual"])]
    source: Option<String>,
    #[command(flatten)]
    amount: AmountArguments,
}

pub async fn run(command: PreferenceCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        PreferenceCommand::Set(arguments) => set(client, arguments, screen).await,
        PreferenceCommand::List(PreferenceListArguments { source, amount }) => {
            let filter: Vec<_> = source.map(|source| ("source", source)).into_iter().collect();
            PREFERENCES.list(client, &amount, &filter, screen).await
        }
        PreferenceCommand::Show(KeyArguments { key, scope }) => {
            let shown = PREFERENCES.items(client, &scope).show(&key, &[]).await;
            PREFERENCES.show_item(&PREFERENCES.name_missing(shown, &key)?, screen)
        }
        PreferenceCommand::Unset(KeyArguments { key, scope }) => {
            let removed = PREFERENCES.items(client, &scope).delete(&key).await;
            let removed = PREFERENCES.name_missing(removed, &key)?;
            screen.answer(&removed, || format!("removed {key}"))
        }
    }
}

async fn set(client: &Client, arguments: SetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let SetArguments { key, value, source, description, scope } = arguments;
    // A value that is no JSON is a text, so that nobody writes quotes within quotes.
    let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
    let texts = [("source", source), ("description", description)];
    let given = texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text?))));
    let fields: Map<String, Value> = given.chain([("value".to_owned(), value)]).collect();
    let stored = PREFERENCES.items(client, &scope).put(&key, fields).await?;
    PREFERENCES.confirm("set", &stored, screen)
}
