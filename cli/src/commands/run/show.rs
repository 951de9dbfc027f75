//! `lathe run show`: shows a run.

use api::wire::AgentRun;

use super::missing::name_missing;
use super::result::list_result_parts;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, escape_hidden};

pub async fn run(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let run = name_missing(client.get_agent_run(id).await, id)?;
    screen.answer(&run.document, || render_text(&run.body))
}

fn render_text(run: &AgentRun) -> String {
    let AgentRun { agent_run_id, agent_id, status, objective, iterations, tokens, created_at, completed_at, .. } = run;
    let ended = completed_at.as_deref().map_or_else(|| "-".to_owned(), cut_to_second);
    let facts = [
        format!("run        {agent_run_id}"),
        format!("agent      {agent_id}"),
        format!("status     {status}"),
        format!("started    {}", cut_to_second(created_at)),
        format!("ended      {ended}"),
        format!("model      {iterations} answers, {tokens} tokens"),
        format!("objective  {objective}"),
    ];
    let parts: Vec<String> = [facts.join("\n")].into_iter().chain(list_result_parts(run)).collect();
    escape_hidden(&parts.join("\n\n"))
}
