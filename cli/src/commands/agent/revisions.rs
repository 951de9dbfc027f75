//! `lathe agent revisions`: lists the revisions of an agent, or shows one.

use api::wire::{Agent, Deployment};
use clap::Args;
use serde_json::json;

use super::content;
use crate::client::{Client, read_all};
use crate::commands::not_found;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, escape_hidden, render_table};

#[derive(Debug, Args)]
pub struct RevisionsArguments {
    /// The agent's slug or id
    agent: String,
    /// Show this revision
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    number: Option<u32>,
}

pub async fn run(client: &Client, arguments: &RevisionsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    match arguments.number {
        Some(number) => show(client, &agent, number, screen).await,
        None => list(client, &agent, screen).await,
    }
}

async fn list(client: &Client, agent: &Agent, screen: Screen) -> anyhow::Result<Outcome> {
    let documents = client.list_agent_revisions(agent.id.as_str()).await?;
    if screen.is_json() {
        return screen.print_document(&json!({ "revisions": documents }));
    }
    if documents.is_empty() {
        screen.note(format!("no revisions; `lathe agent deploy {}` makes one", agent.slug));
        return Ok(Outcome::Done);
    }
    let state = |number| if agent.running_revision == Some(number) { "runs" } else { "" };
    let row = |deployment: Deployment| {
        let Deployment { number, deployed_by, deployed_at } = deployment;
        [number.to_string(), cut_to_second(&deployed_at), deployed_by, state(number).to_owned()]
    };
    screen.print_line(render_table(
        ["revision", "deployed", "by", "state"],
        read_all(&documents)?.into_iter().map(row),
    ))?;
    Ok(Outcome::Done)
}

async fn show(client: &Client, agent: &Agent, number: u32, screen: Screen) -> anyhow::Result<Outcome> {
    let hint = format!("`lathe agent revisions {}` lists the revisions", agent.slug);
    let revision = client.get_agent_revision(agent.id.as_str(), number).await;
    let revision = not_found::name_missing(revision, &format!("revision {number} of {}", agent.slug), &hint)?;
    if screen.is_json() {
        return screen.print_document(&revision.document);
    }
    let body = &revision.body;
    let content = content::render_text(client, &body.content).await?;
    let Deployment { deployed_by, deployed_at, .. } = &body.deployment;
    let head = format!("revision {number}, deployed {} by {deployed_by}", cut_to_second(deployed_at));
    screen.print_line(escape_hidden(&format!("{head}\n\n{content}")))?;
    Ok(Outcome::Done)
}
