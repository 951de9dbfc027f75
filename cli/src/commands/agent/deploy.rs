//! `lathe agent deploy`: makes the draft of an agent the running revision.

use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

pub async fn run(client: &Client, agent: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(agent).await?;
    let revision = client.deploy_agent(agent.id.as_str()).await?;
    for warning in &revision.body.warnings {
        screen.note(format!("warning: {warning}"));
    }
    screen.answer(&revision.document, || {
        let number = revision.body.deployment.number;
        match agent.running_revision {
            Some(running) if running == number => format!("{} runs revision {number}, as before", agent.slug),
            _ => format!("{} runs revision {number} now", agent.slug),
        }
    })
}
