//! `lathe run list`: lists runs.

use api::wire::ListedAgentRun;
use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use crate::client::{AgentRunFilter, Client, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only runs with this status
    #[arg(long, value_parser = ["running", "paused", "completed", "failed", "cancelled"])]
    status: Option<String>,
    /// Only runs of this agent (slug or id)
    #[arg(long)]
    agent: Option<String>,
    /// Only runs that started before this run
    #[arg(long, value_name = "RUN")]
    before: Option<String>,
    /// Maximum number of runs
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub async fn run(client: &Client, arguments: ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let ListArguments { status, agent, before, limit } = arguments;
    let agent_id = match agent {
        Some(agent) => Some(client.find_agent(&agent).await?.id.into()),
        None => None,
    };
    let filter = AgentRunFilter { status, agent_id, before };
    let (documents, has_more) = client.list_agent_runs(&filter, usize::try_from(limit)?).await?;
    if screen.is_json() {
        return screen.print_document(&json!({"agent_runs": documents, "has_more": has_more}));
    }
    let runs: Vec<ListedAgentRun> = read_all(&documents)?;
    if runs.is_empty() {
        screen.note("no runs; `lathe run start AGENT OBJECTIVE` starts one");
        return Ok(Outcome::Done);
    }
    let slugs = client.find_agent_slugs(runs.iter().map(|run| run.agent_id.as_str())).await?;
    let columns = ["id", "started", "status", "agent", "user", "objective"];
    screen.print_line(render_table(columns, runs.into_iter().map(|run| build_row(run, &slugs))))?;
    if has_more {
        screen.note("there are more runs; raise --limit");
    }
    Ok(Outcome::Done)
}

fn build_row(run: ListedAgentRun, slugs: &BTreeMap<String, String>) -> [String; 6] {
    let ListedAgentRun { agent_run_id, agent_id, user_id, status, objective, created_at, .. } = run;
    // A deleted agent has no slug.
    let agent = slugs.get(agent_id.as_str()).cloned().unwrap_or_else(|| agent_id.into());
    [agent_run_id.into(), cut_to_second(&created_at), status, agent, user_id, objective]
}
