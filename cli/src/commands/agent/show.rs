//! `lathe agent show`: shows an agent with its draft.

use api::wire::AgentDetail;

use super::content;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, escape_hidden};

pub async fn run(client: &Client, agent: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(agent).await?;
    let shown = client.show_agent(agent.id.as_str()).await?;
    if screen.is_json() {
        return screen.print_document(&shown.document);
    }
    let content = content::render_text(client, &shown.body.draft).await?;
    screen.print_line(escape_hidden(&format!("{}\n\nDraft:\n\n{content}", render_facts(&shown.body))))?;
    Ok(Outcome::Done)
}

fn render_facts(AgentDetail { agent, .. }: &AgentDetail) -> String {
    let running =
        agent.running_revision.map_or_else(|| "not deployed".to_owned(), |number| format!("revision {number}"));
    let lines = [
        format!("slug         {}", agent.slug),
        format!("id           {}", agent.id),
        format!("name         {}", agent.name),
        format!("type         {}", agent.agent_type),
        format!("scope        {}", agent.scope),
        format!("description  {}", agent.description),
        format!("runs         {running}"),
        format!("created      {} by {}", cut_to_second(&agent.created_at), agent.author),
        format!("changed      {} by {}", cut_to_second(&agent.updated_at), agent.updated_by),
    ];
    lines.join("\n")
}
