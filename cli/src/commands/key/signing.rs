//! `lathe key signing`: public keys that sign versions.

use api::wire::SigningKey;
use clap::Args;

use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, render_table};

#[derive(Debug, Args)]
pub struct SigningArguments {
    /// Print only the newest key, as PEM
    #[arg(long)]
    pem: bool,
}

pub async fn run(client: &Client, arguments: &SigningArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let answer = client.get_signing_keys().await?;
    if screen.is_json() {
        return screen.print_document(&answer.document);
    }
    let keys = &answer.body.keys;
    match keys.last() {
        None => screen.note("no keys yet; the first publish creates one"),
        Some(newest) if arguments.pem => screen.print_line(newest.pem.trim_end())?,
        Some(_) => {
            let row = |key: &SigningKey| [key.kid.clone(), key.crv.clone(), key.created_at.clone()];
            screen.print_line(render_table(["key", "kind", "since"], keys.iter().map(row)))?;
        }
    }
    Ok(Outcome::Done)
}
