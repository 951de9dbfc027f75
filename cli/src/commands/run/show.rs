//! `lathe run show`: shows a run.

use api::wire::AgentRun;

use super::missing::name_missing;
use super::result::result_parts;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, printable, to_the_second};

pub async fn run(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let run = name_missing(client.agent_run(id).await, id)?;
    screen.answer(&run.document, || text(&run.body))
}

fn text(run: &AgentRun) -> String {
    let AgentRun { agent_run_id, agent_id, status, objective, iterations, tokens, created_at, completed_at, .. } = run;
    let ended = completed_at.as_deref().map_or_else(|| "-".to_owned(), to_the_second);
    let facts = [
        format!("run        {agent_run_id}"),
        format!("agent      {agent_id}"),
        format!("status     {status}"),
        format!("started    {}", to_the_second(created_at)),
        format!("ended      {ended}"),
        format!("model      {iterations} answers, {tokens} tokens"),
        format!("objective  {objective}"),
    ];
    let parts: Vec<String> = [facts.join("\n")].into_iter().chain(result_parts(run)).collect();
    printable(&parts.join("\n\n"))
}
