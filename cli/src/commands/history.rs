//! `lathe history`: lists, searches, exports and shows records of runs, cancels runs, and manages legal holds.

mod cells;
mod export;
mod filter;
mod hold;
mod ledger;
mod rollback;
mod tail;

use std::collections::BTreeMap;

use api::wire::{AgentCall, InvocationList, RunOutcome, ToolInvocation};
use clap::{Args, Subcommand};
use registry::{Ledger, SearchField};
use serde_json::{Value, json};

use self::cells::{EMPTY, find_tool_name, summarize};
use self::export::ExportArguments;
use self::filter::{FilterArguments, ListFilterArguments};
use self::hold::HoldCommand;
use self::rollback::RollbackArguments;
use self::tail::TailArguments;
use super::choice::build_choice_parser;
use super::not_found;
use crate::client::{Client, Search};
use crate::failure::Outcome;
use crate::output::{Screen, clip, cut_to_second, escape_hidden, render_table};

/// Maximum length of a result in a table, so that the other columns fit on a common terminal.
const SUMMARY_CHARACTERS_MAX: usize = 60;

/// The hint for a record that does not exist.
const NEWEST_RECORDS: &str = "`lathe history list` lists the newest records";

/// The fields of `--in`.
const SEARCH_FIELDS: [(&str, SearchField); 5] = [
    ("output", SearchField::Output),
    ("message", SearchField::ExceptionMessage),
    ("type", SearchField::ExceptionType),
    ("stack-trace", SearchField::ExceptionStackTrace),
    ("inputs", SearchField::Inputs),
];

/// The fields of results, which are searched by default.
const RESULT: [SearchField; 4] =
    [SearchField::Output, SearchField::ExceptionMessage, SearchField::ExceptionType, SearchField::ExceptionStackTrace];

#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// List records, newest first
    List(ListArguments),
    /// Print the newest records, and others as their runs end, until Ctrl-C; with --json one record on each line
    Tail(TailArguments),
    /// Search outputs, exceptions and stack traces, and inputs with `--in inputs`
    Search(SearchArguments),
    /// Write all records, or those that match, as JSON Lines or Parquet
    Export(ExportArguments),
    /// Show one record with all its details
    Show(ShowArguments),
    /// Cancel a run that is in progress
    Cancel(CancelArguments),
    /// Take records out of a conversation or a simulation; they stay in the history
    Rollback(RollbackArguments),
    /// Create, list and release legal holds, which keep old runs
    #[command(subcommand)]
    Hold(HoldCommand),
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    filter: ListFilterArguments,
    #[command(flatten)]
    amount: AmountArguments,
}

#[derive(Debug, Args)]
pub struct AmountArguments {
    /// Maximum number of records
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// All records
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

#[derive(Debug, Args)]
pub struct SearchArguments {
    /// Words that a record must contain, all of them; `brav*` finds words that begin with brav
    query: String,
    /// Field to search; repeatable [default: all fields of the result]
    #[arg(long = "in", value_name = "FIELD", value_parser = build_choice_parser(&SEARCH_FIELDS))]
    fields: Vec<SearchField>,
    #[command(flatten)]
    filter: FilterArguments,
    #[command(flatten)]
    amount: AmountArguments,
}

#[derive(Debug, Args)]
pub struct CancelArguments {
    /// The run's id
    invocation: String,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The record's id
    invocation: String,
}

pub async fn run(command: HistoryCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        HistoryCommand::List(arguments) => list(client, arguments, screen).await,
        HistoryCommand::Search(arguments) => search(client, arguments, screen).await,
        HistoryCommand::Export(arguments) => export::run(client, arguments, screen).await,
        HistoryCommand::Show(arguments) => show(client, &arguments, screen).await,
        HistoryCommand::Cancel(arguments) => cancel(client, &arguments.invocation, screen).await,
        HistoryCommand::Tail(arguments) => tail::run(client, arguments, screen).await,
        HistoryCommand::Rollback(arguments) => rollback::run(client, arguments, screen).await,
        HistoryCommand::Hold(command) => hold::run(command, client, screen).await,
    }
}

async fn list(client: &Client, arguments: ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let filter = arguments.filter.read(client).await?;
    let answer = client.list_invocations(&filter, arguments.amount.limit()).await?;
    if screen.is_json() {
        return screen.print_document(&answer.document);
    }
    show_table(client, &answer.body, screen).await
}

async fn search(client: &Client, arguments: SearchArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let filter = arguments.filter.read(client).await?;
    let fields = if arguments.fields.is_empty() { &RESULT[..] } else { &arguments.fields };
    let search = Search { text: &arguments.query, fields, filter };
    let answer = client.search_invocations(&search, arguments.amount.limit()).await?;
    if screen.is_json() {
        return screen.print_document(&answer.document);
    }
    show_table(client, &answer.body, screen).await
}

async fn cancel(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    not_found::name_missing(client.cancel_invocation(id).await, &format!("record {id}"), NEWEST_RECORDS)?;
    screen.answer(&json!({ "invocation_id": id }), || format!("cancelled {id}"))
}

impl AmountArguments {
    fn limit(&self) -> Option<u32> {
        (!self.all).then_some(self.limit)
    }
}

async fn show_table(client: &Client, page: &InvocationList, screen: Screen) -> anyhow::Result<Outcome> {
    let invocations = &page.tool_invocations;
    if invocations.is_empty() {
        screen.note("no records");
        return Ok(Outcome::Done);
    }
    let names = client.find_tool_names(invocations.iter().map(|invocation| invocation.tool_id.as_str())).await?;
    let row = |invocation: &ToolInvocation| build_row(invocation, &names);
    screen.print_line(render_table(
        ["id", "when", "tool", "version", "origin", "ms", "result"],
        invocations.iter().map(row),
    ))?;
    if page.has_more {
        screen.note("there are more records: --limit COUNT or --all shows them");
    }
    Ok(Outcome::Done)
}

fn build_row(invocation: &ToolInvocation, names: &BTreeMap<String, String>) -> [String; 7] {
    [
        invocation.id.clone(),
        cut_to_second(&invocation.created_at),
        find_tool_name(invocation, names).unwrap_or_else(|| EMPTY.to_owned()),
        invocation.published_version().map_or_else(|| EMPTY.to_owned(), |version| version.to_string()),
        invocation.origin.clone(),
        invocation.duration_ms.to_string(),
        clip(&summarize(invocation.invocation_status.as_ref()), SUMMARY_CHARACTERS_MAX),
    ]
}

/// The user, the API key and the address of the caller, as far as they are recorded.
fn describe_caller(invocation: &ToolInvocation) -> String {
    let ToolInvocation { user_id, api_key_id, caller_address, .. } = invocation;
    let key = api_key_id.as_ref().map(|key| format!("key {key}"));
    let address = caller_address.as_ref().map(|address| format!("from {address}"));
    let known: Vec<_> = [user_id.clone(), key, address].into_iter().flatten().collect();
    if known.is_empty() { "unknown".to_owned() } else { known.join(", ") }
}

/// The agent, its revision, the client and the turn of a call through an agent.
fn render_agent_call(call: &AgentCall) -> String {
    let AgentCall { agent_id, revision, client, turn_id, .. } = call;
    let client = client.as_ref().map(|client| format!(", client {client}")).unwrap_or_default();
    let turn = turn_id.as_ref().map(|turn| format!(", turn {turn}")).unwrap_or_default();
    format!("agent     {agent_id} revision {revision}{client}{turn}")
}

fn render_tool_line(invocation: &ToolInvocation) -> String {
    match &invocation.native_tool {
        Some(name) => format!("tool      {name} of the server"),
        None => format!("tool      {} {}", invocation.tool_id, invocation.tool_version),
    }
}

async fn show(client: &Client, arguments: &ShowArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let found = client.show_invocation(&arguments.invocation).await;
    let what = format!("record {}", arguments.invocation);
    let (answer, ledger) = not_found::name_missing(found, &what, NEWEST_RECORDS)?;
    let source = &answer.document["invocation_source"];
    screen.answer(&answer.document, || render_record(&answer.body, source, ledger.as_ref()))
}

fn render_record(invocation: &ToolInvocation, source: &Value, ledger: Option<&Ledger>) -> String {
    let mut lines = vec![
        format!("id        {}", invocation.id),
        format!("when      {}", invocation.created_at),
        render_tool_line(invocation),
        format!("origin    {}", invocation.origin.as_str()),
        format!("caller    {}", describe_caller(invocation)),
        format!("source    {source}"),
        format!("duration  {} ms", invocation.duration_ms),
        format!("inputs    {}", invocation.inputs.as_str()),
    ];
    lines.extend(invocation.agent_call.as_ref().map(render_agent_call));
    lines.extend(invocation.refused_at.as_ref().map(|step| format!("refused   at the step {step}")));
    match &invocation.invocation_status {
        Some(RunOutcome::Succeeded { output, .. }) => lines.push(format!("output    {output}")),
        Some(RunOutcome::Failed { exception_type, exception_message, exception_stack_trace, .. }) => {
            lines.push(format!("failed    {exception_type}: {exception_message}"));
            lines.extend(exception_stack_trace.iter().map(|frame| format!("          {}", frame.trim_end())));
        }
        None => lines.push("running".to_owned()),
    }
    lines.extend(invocation.logs.lines().map(|line| format!("printed   {line}")));
    lines.extend(ledger.into_iter().flat_map(ledger::render_lines));
    escape_hidden(&lines.join("\n"))
}
