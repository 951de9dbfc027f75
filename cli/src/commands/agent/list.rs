//! `lathe agent list`: lists agents.

use api::wire::Agent;
use clap::Args;
use serde_json::json;

use crate::client::{Client, read_all};
use crate::failure::Outcome;
use crate::output::{Screen, render_table};

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only agents of this type; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = ["agent", "mcp_gateway", "profile"])]
    types: Vec<String>,
    /// Maximum number of agents
    #[arg(long, default_value_t = 100, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub async fn run(client: &Client, arguments: &ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let limit = usize::try_from(arguments.limit)?;
    let (documents, has_more) = client.list_agents(&arguments.types, limit).await?;
    if screen.is_json() {
        return screen.print_document(&json!({"agents": documents, "has_more": has_more}));
    }
    let agents: Vec<Agent> = read_all(&documents)?;
    if agents.is_empty() {
        screen.note("no agents; `lathe agent create SLUG --description …` creates one");
        return Ok(Outcome::Done);
    }
    let columns = ["slug", "id", "type", "scope", "author", "runs", "description"];
    screen.print_line(render_table(columns, agents.into_iter().map(build_row)))?;
    if has_more {
        screen.note("there are more agents; raise --limit");
    }
    Ok(Outcome::Done)
}

fn build_row(agent: Agent) -> [String; 7] {
    let running = agent.running_revision.map_or_else(|| "-".to_owned(), |number| number.to_string());
    [agent.slug, agent.id.into(), agent.agent_type, agent.scope, agent.author, running, agent.description]
}
