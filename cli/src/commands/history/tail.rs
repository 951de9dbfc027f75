//! `lathe history tail`: prints records as runs end.

use std::collections::BTreeMap;
use std::time::Duration;

use api::wire::{InvocationList, ListPage as _};
use clap::Args;
use jiff::Timestamp;
use registry::Clock;
use serde_json::Value;

use super::cells::{EMPTY, find_tool_name, summarize};
use super::filter::FilterArguments;
use crate::client::{Client, HistoryFilter, read};
use crate::failure::Outcome;
use crate::output::{Screen, clip, cut_to_second, escape_hidden, print_verbatim};

/// Time between two requests for records. People read slower than that.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Records are listed by their start. A run that began so long before the newest record can still end: more than most runs take.
const WINDOW: Duration = Duration::from_secs(600);
/// Records that one request looks at. Of more than that within the window, the newest are printed.
const RECORDS_MAX: u32 = 1_000;
/// Characters of a result, so that a line fits on a common terminal with the other columns.
const RESULT_CHARACTERS_MAX: usize = 60;

#[derive(Debug, Args)]
pub struct TailArguments {
    #[command(flatten)]
    filter: FilterArguments,
    /// Number of earlier records to begin with
    #[arg(long, short = 'n', default_value_t = 10, value_name = "COUNT")]
    lines: u32,
    /// Print the earlier records and do not wait for others
    #[arg(long)]
    no_follow: bool,
}

pub async fn run(client: &Client, arguments: TailArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let TailArguments { filter, lines, no_follow } = arguments;
    let filter = filter.read(client).await?;
    let mut tail = Tail { client, screen, seen: BTreeMap::new(), names: BTreeMap::new() };
    let mut since = Timestamp::from_millisecond(Clock::system().now().as_milliseconds())?;
    // Records from before the beginning are not printed later. A run that ends between the two requests is new to the second one.
    let recent = HistoryFilter { created_after: Some(compute_window(since)?), ..filter.clone() };
    tail.mark_seen(&client.list_invocations(&recent, Some(RECORDS_MAX)).await?.document)?;
    if lines > 0 {
        let earlier: Vec<Value> =
            read(&client.list_invocations(&filter, Some(lines)).await?.document["tool_invocations"])?;
        for record in earlier.iter().rev() {
            tail.is_new(record);
            tail.print(record).await?;
        }
    }
    if no_follow {
        return Ok(Outcome::Done);
    }
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let recent = HistoryFilter { created_after: Some(compute_window(since)?), ..filter.clone() };
        let page = client.list_invocations(&recent, Some(RECORDS_MAX)).await?;
        tail.print_new(&page.document).await?;
        since = tail.newest().unwrap_or(since).max(since);
        tail.forget_before(&compute_window(since)?);
    }
}

fn compute_window(time: Timestamp) -> anyhow::Result<String> {
    Ok(time.checked_sub(WINDOW)?.to_string())
}

/// What has been printed.
struct Tail<'a> {
    client: &'a Client,
    screen: Screen,
    /// The times of the records within the window, by their ids.
    seen: BTreeMap<String, String>,
    /// The names of tools by their ids.
    names: BTreeMap<String, String>,
}

impl Tail<'_> {
    /// Prints the records of a page that were not seen yet, the oldest first.
    async fn print_new(&mut self, page: &Value) -> anyhow::Result<()> {
        let records: Vec<Value> = read(&page[InvocationList::ITEMS])?;
        for record in records.iter().rev() {
            if self.is_new(record) {
                self.print(record).await?;
            }
        }
        Ok(())
    }

    fn mark_seen(&mut self, page: &Value) -> anyhow::Result<()> {
        let records: Vec<Value> = read(&page[InvocationList::ITEMS])?;
        records.iter().for_each(|record| {
            self.is_new(record);
        });
        Ok(())
    }

    /// Whether a record was not seen before. It is seen from then on.
    fn is_new(&mut self, record: &Value) -> bool {
        let text = |field: &str| record[field].as_str().unwrap_or_default().to_owned();
        self.seen.insert(text("id"), text("created_at")).is_none()
    }

    fn newest(&self) -> Option<Timestamp> {
        self.seen.values().filter_map(|time| time.parse().ok()).max()
    }

    fn forget_before(&mut self, time: &str) {
        let before: Option<Timestamp> = time.parse().ok();
        self.seen.retain(|_, seen| seen.parse::<Timestamp>().ok() >= before);
    }

    /// Prints a record as a line: with `--json`, as JSON.
    async fn print(&mut self, record: &Value) -> anyhow::Result<()> {
        if self.screen.is_json() {
            return print_verbatim(&format!("{record}\n"));
        }
        let invocation: api::wire::ToolInvocation = read(record)?;
        if invocation.native_tool.is_none() && !self.names.contains_key(&invocation.tool_id) {
            let found = self.client.find_tool_names([invocation.tool_id.as_str()].into_iter()).await?;
            self.names.extend(found);
        }
        let tool = find_tool_name(&invocation, &self.names).unwrap_or_else(|| EMPTY.to_owned());
        let result = clip(&summarize(invocation.invocation_status.as_ref()), RESULT_CHARACTERS_MAX).replace('\n', " ");
        let (id, when, took) = (&invocation.id, cut_to_second(&invocation.created_at), invocation.duration_ms);
        self.screen.print_line(escape_hidden(&format!("{when}  {id}  {tool}  {took} ms  {result}")))
    }
}
