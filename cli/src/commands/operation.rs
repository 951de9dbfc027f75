//! `lathe operation`: asynchronous requests, and requests with an idempotency key.

use api::wire::Operation;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::not_found;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, Spinner, cut_to_second, escape_hidden};

const HINT: &str = "the server keeps an operation for a day, unless the operator set another time; \
    `lathe history list` and `lathe tool versions TOOL` show the results";

#[derive(Debug, Subcommand)]
pub enum OperationCommand {
    /// Show an operation with its result or its error
    Show(OperationArguments),
    /// Wait until an operation has ended, and show it
    Wait(OperationArguments),
}

#[derive(Debug, Args)]
pub struct OperationArguments {
    /// The operation's id, from the response to a request with `Prefer: respond-async` or an idempotency key
    operation: String,
}

pub async fn run(command: OperationCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let (id, found) = match command {
        OperationCommand::Show(OperationArguments { operation }) => {
            let found = client.get_operation(&operation).await;
            (operation, found)
        }
        OperationCommand::Wait(OperationArguments { operation }) => {
            let progress = Spinner::start("waiting");
            progress.show(format!("the operation {operation} goes on"));
            let found = client.wait_for_operation(&operation).await;
            (operation, found)
        }
    };
    let found = not_found::name_missing(found, &format!("operation `{id}`"), HINT)?;
    screen.answer(&found.document, || render_text(&found.body))?;
    Ok(if found.body.status == "failed" { Outcome::Failed } else { Outcome::Done })
}

fn render_text(operation: &Operation) -> String {
    let Operation { id, kind, status, started_at, finished_at, http_status, result, error } = operation;
    let ended = finished_at.as_deref().map_or_else(|| "-".to_owned(), cut_to_second);
    let response = http_status.map_or_else(|| "-".to_owned(), |status| format!("HTTP {status}"));
    let facts = [
        format!("operation  {id}"),
        format!("kind       {kind}"),
        format!("status     {status}"),
        format!("started    {}", cut_to_second(started_at)),
        format!("ended      {ended}"),
        format!("response   {response}"),
    ];
    let body = result.as_ref().or(error.as_ref());
    let body = body.and_then(|body| serde_json::from_str::<Value>(body.get()).ok());
    let body = body.map(|body| format!("\n\n{body:#}")).unwrap_or_default();
    escape_hidden(&format!("{}{body}", facts.join("\n")))
}
