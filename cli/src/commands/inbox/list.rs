//! `lathe inbox`: lists requests, the most urgent ones first.

use api::wire::{HumanRequest, HumanRequestList};
use clap::Args;

use crate::client::{Client, HumanRequestFilter};
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};

/// Maximum requests of a list, from the API contract.
const LIMIT_MAX: i64 = 200;

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only requests with this status; any for all [default: open]
    #[arg(long, value_parser = ["open", "answered", "expired", "cancelled", "any"])]
    status: Option<String>,
    /// Only requests of this urgency
    #[arg(long, value_parser = ["low", "medium", "high"])]
    urgency: Option<String>,
    /// Only requests of this run
    #[arg(long = "run", value_name = "AGENT_RUN_ID")]
    agent_run: Option<String>,
    /// Maximum number of requests, up to 200 [default: 50]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=LIMIT_MAX))]
    limit: Option<u32>,
}

impl ListArguments {
    pub const fn is_given(&self) -> bool {
        self.has_filter() || self.limit.is_some()
    }

    const fn has_filter(&self) -> bool {
        self.status.is_some() || self.urgency.is_some() || self.agent_run.is_some()
    }
}

pub async fn run(client: &Client, arguments: ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let has_filter = arguments.has_filter();
    let ListArguments { status, urgency, agent_run, limit } = arguments;
    let answer = client.list_human_requests(&HumanRequestFilter { status, urgency, agent_run, limit }).await?;
    if screen.is_json() {
        return screen.print_document(&answer.document);
    }
    let HumanRequestList { human_requests, has_more } = answer.body;
    if human_requests.is_empty() {
        screen.note(if has_filter {
            "no such requests; `lathe inbox --status any` lists all"
        } else {
            "no open requests; `lathe inbox --status any` lists all"
        });
        return Ok(Outcome::Done);
    }
    let columns = ["id", "urgency", "kind", "status", "asked", "run", "question"];
    screen.print_line(render_table(columns, human_requests.into_iter().map(build_row)))?;
    if has_more {
        screen.note("there are more requests; raise --limit");
    }
    Ok(Outcome::Done)
}

fn build_row(request: HumanRequest) -> [String; 7] {
    let HumanRequest { human_request_id, urgency, kind, status, created_at, agent_run_id, question, .. } = request;
    [human_request_id.into(), urgency, kind, status, cut_to_second(&created_at), agent_run_id.into(), question]
}
