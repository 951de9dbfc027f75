//! `lathe history hold`: legal holds, which keep runs in the history, however old they are.

use api::wire::Hold;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::json;

use crate::client::{Client, read_all};
use crate::commands::times::parse_past;
use crate::commands::{completion, not_found};
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};

/// A cell without a value.
const EMPTY: &str = "-";

const HINT: &str = "`lathe history hold list` lists the holds";

#[derive(Debug, Subcommand)]
pub enum HoldCommand {
    /// Create a hold, which keeps runs, however old they are, until it is released
    Create(CreateArguments),
    /// List all holds, also those that are released
    List,
    /// Release a hold; the server deletes within the hour what has expired
    Release(ReleaseArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Reason for the hold, such as the reference of a case
    reason: String,
    /// Only runs of this tool (name or id)
    #[arg(long, add = completion::complete_tools())]
    tool: Option<String>,
    /// Only runs since this time: a duration such as 2h or 7d, a date, or a time
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    since: Option<Timestamp>,
    /// Only runs before this time
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    before: Option<Timestamp>,
}

#[derive(Debug, Args)]
pub struct ReleaseArguments {
    /// The hold's id
    hold: String,
}

pub async fn run(command: HoldCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        HoldCommand::Create(arguments) => create(client, arguments, screen).await,
        HoldCommand::List => list(client, screen).await,
        HoldCommand::Release(arguments) => release(client, &arguments.hold, screen).await,
    }
}

async fn create(client: &Client, arguments: CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = match &arguments.tool {
        Some(tool) => Some(client.find_tool_of_records(tool).await?.id),
        None => None,
    };
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let (from, before) = (time(arguments.since), time(arguments.before));
    let hold = json!({"reason": arguments.reason, "tool_id": tool, "started_from": from, "started_before": before});
    let answer = client.place_hold(hold).await?;
    screen.answer(&answer.document, || format!("created the hold {}", answer.body.hold_id))
}

async fn list(client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let documents = client.list_holds().await?;
    if screen.is_json() {
        return screen.print_document(&json!({ "holds": documents }));
    }
    let rows = read_all(&documents)?.into_iter().map(build_row);
    screen.print_line(render_table(
        ["id", "placed", "by", "tool", "runs since", "runs before", "released", "reason"],
        rows,
    ))?;
    Ok(Outcome::Done)
}

fn build_row(hold: Hold) -> [String; 8] {
    let time = |time: Option<String>| time.map_or_else(|| EMPTY.to_owned(), |time| cut_to_second(&time));
    let release = hold.released_at.map(|at| cut_to_second(&at)).zip(hold.released_by);
    [
        hold.hold_id.into(),
        cut_to_second(&hold.placed_at),
        hold.placed_by,
        hold.tool_id.unwrap_or_else(|| EMPTY.to_owned()),
        time(hold.started_from),
        time(hold.started_before),
        release.map_or_else(|| EMPTY.to_owned(), |(at, by)| format!("{at} by {by}")),
        hold.reason,
    ]
}

async fn release(client: &Client, hold: &str, screen: Screen) -> anyhow::Result<Outcome> {
    not_found::name_missing(client.release_hold(hold).await, &format!("hold {hold}"), HINT)?;
    screen.answer(&json!({ "hold_id": hold }), || format!("released the hold {hold}"))
}
