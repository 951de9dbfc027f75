//! `lathe history`: lists, searches and shows records of runs.

mod ledger;

use std::collections::BTreeMap;

use anyhow::Context;
use api::wire::{RunOutcome, ToolInvocation};
use clap::{Args, Subcommand};
use registry::Ledger;
use serde_json::Value;

use crate::client::{Client, HistoryFilter, SearchField};
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::{Screen, clipped, printable, table, to_the_second};

/// Maximum length of a result in a table, so that the other columns fit on a common terminal.
const SUMMARY_CHARACTERS_MAX: usize = 60;

/// A cell without a value. A branch test has no version, and it may have no tool.
const EMPTY: &str = "-";

#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// List records, newest first
    List(ListArguments),
    /// Search outputs, exceptions and stack traces
    Search(SearchArguments),
    /// Show one record with all its details
    Show(ShowArguments),
}

#[derive(Debug, Args)]
pub struct FilterArguments {
    /// Only runs of this tool (name or id)
    #[arg(long)]
    tool: Option<String>,
    /// Only runs from this source: regular-conversation, simulation-conversation, direct or branch-test; repeatable
    #[arg(long = "source", value_name = "TYPE")]
    sources: Vec<String>,
    /// Only runs of this conversation; repeatable
    #[arg(long = "conversation", value_name = "ID")]
    conversations: Vec<String>,
    /// Only runs that sent a request to this host; repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Only runs that had this secret; repeatable
    #[arg(long = "secret", value_name = "NAME")]
    secrets: Vec<String>,
    /// Only runs with a refusal of this code, such as denied, budget, simulated or status_events; repeatable
    #[arg(long = "refused", value_name = "CODE")]
    refusals: Vec<String>,
    /// Only runs that succeeded
    #[arg(long, conflicts_with = "failed")]
    succeeded: bool,
    /// Only runs that failed
    #[arg(long)]
    failed: bool,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    filter: FilterArguments,
    /// Only versions that match this constraint, such as '>=1.2,<2'; requires --tool
    #[arg(long, value_name = "CONSTRAINT", requires = "tool")]
    version: Option<String>,
    /// Maximum number of records, 1 to 100
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

#[derive(Debug, Args)]
pub struct SearchArguments {
    /// Words that a record must contain, all of them; there is no query syntax
    query: String,
    /// Field to search; repeatable [default: all fields]
    #[arg(long = "in", value_enum, value_name = "FIELD")]
    fields: Vec<SearchField>,
    #[command(flatten)]
    filter: FilterArguments,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The record's id
    invocation: String,
}

pub async fn run(command: HistoryCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        HistoryCommand::List(arguments) => list(&client, arguments, screen).await,
        HistoryCommand::Search(arguments) => search(&client, arguments, screen).await,
        HistoryCommand::Show(arguments) => show(&client, &arguments, screen).await,
    }
}

async fn list(client: &Client, arguments: ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let mut filter = read_filter(client, arguments.filter).await?;
    filter.version = arguments.version;
    let answer = client.list_invocations(&filter, arguments.limit).await?;
    if screen.is_json() {
        return screen.document(&answer.document);
    }
    show_table(client, &answer.body.tool_invocations, screen).await
}

async fn search(client: &Client, arguments: SearchArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let filter = read_filter(client, arguments.filter).await?;
    let fields = if arguments.fields.is_empty() { &SearchField::ALL[..] } else { &arguments.fields };
    let answer = client.search_invocations(&arguments.query, fields, &filter).await?;
    if screen.is_json() {
        return screen.document(&answer.document);
    }
    show_table(client, &answer.body.tool_invocations, screen).await
}

async fn read_filter(client: &Client, arguments: FilterArguments) -> anyhow::Result<HistoryFilter> {
    let tool_id = match &arguments.tool {
        Some(tool) => Some(client.find_tool(tool).await?.id),
        None => None,
    };
    Ok(HistoryFilter {
        tool_id,
        version: None,
        source_types: arguments.sources,
        conversation_ids: arguments.conversations,
        hosts: arguments.hosts,
        secrets: arguments.secrets,
        refusals: arguments.refusals,
        succeeded: match (arguments.succeeded, arguments.failed) {
            (false, false) => None,
            (is_succeeded, _) => Some(is_succeeded),
        },
    })
}

async fn show_table(client: &Client, invocations: &[ToolInvocation], screen: Screen) -> anyhow::Result<Outcome> {
    if invocations.is_empty() {
        screen.note("no records");
        return Ok(Outcome::Done);
    }
    let names = client.tool_names(invocations.iter().map(|invocation| invocation.tool_id.as_str())).await?;
    let row = |invocation: &ToolInvocation| row(invocation, &names);
    screen.line(table(["id", "when", "tool", "version", "source", "ms", "result"], invocations.iter().map(row)))?;
    Ok(Outcome::Done)
}

fn row(invocation: &ToolInvocation, names: &BTreeMap<String, String>) -> [String; 7] {
    [
        invocation.id.clone(),
        to_the_second(&invocation.created_at),
        names.get(&invocation.tool_id).cloned().unwrap_or_else(|| EMPTY.to_owned()),
        invocation.published_version().map_or_else(|| EMPTY.to_owned(), |version| version.to_string()),
        invocation.invocation_source.kind().to_owned(),
        invocation.duration_ms.to_string(),
        clipped(&summary(invocation.invocation_status.as_ref()), SUMMARY_CHARACTERS_MAX),
    ]
}

fn summary(status: Option<&RunOutcome>) -> String {
    match status {
        Some(RunOutcome::Succeeded { output, .. }) => output.clone(),
        Some(RunOutcome::Failed { exception_type, exception_message, .. }) => {
            format!("✗ {exception_type}: {exception_message}")
        }
        None => "running".to_owned(),
    }
}

async fn show(client: &Client, arguments: &ShowArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let found = client.show_invocation(&arguments.invocation).await;
    let (answer, ledger) = found.with_context(|| format!("record {}", arguments.invocation))?;
    let source = &answer.document["invocation_source"];
    screen.answer(&answer.document, || record_text(&answer.body, source, ledger.as_ref()))
}

fn record_text(invocation: &ToolInvocation, source: &Value, ledger: Option<&Ledger>) -> String {
    let mut lines = vec![
        format!("id        {}", invocation.id),
        format!("when      {}", invocation.created_at),
        format!("tool      {} {}", invocation.tool_id, invocation.tool_version),
        format!("source    {source}"),
        format!("duration  {} ms", invocation.duration_ms),
        format!("inputs    {}", invocation.inputs.as_str()),
    ];
    match &invocation.invocation_status {
        Some(RunOutcome::Succeeded { output, .. }) => lines.push(format!("output    {output}")),
        Some(RunOutcome::Failed { exception_type, exception_message, exception_stack_trace, .. }) => {
            lines.push(format!("failed    {exception_type}: {exception_message}"));
            lines.extend(exception_stack_trace.iter().map(|frame| format!("          {}", frame.trim_end())));
        }
        None => lines.push("running".to_owned()),
    }
    lines.extend(invocation.logs.lines().map(|line| format!("printed   {line}")));
    lines.extend(ledger.into_iter().flat_map(ledger::lines));
    printable(&lines.join("\n"))
}
