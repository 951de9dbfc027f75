//! `lathe conversation start`: starts a conversation with an agent.

use api::wire::MODES;
use clap::Args;
use registry::InvocationMode;
use serde_json::json;

use crate::client::Client;
use crate::commands::choice::build_choice_parser;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct StartArguments {
    /// The agent's slug or id
    agent: String,
    /// Mode of every call in the conversation
    #[arg(long, default_value = "regular", value_parser = build_choice_parser(&MODES))]
    mode: InvocationMode,
}

pub async fn run(client: &Client, arguments: &StartArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    let started = client.start_conversation(agent.id.as_str(), &json!({"mode": arguments.mode.as_str()})).await?;
    screen.answer(&started.document, || {
        let id = &started.body.id;
        format!("started {id}\n\nTo begin a turn:\n  lathe conversation turn {id}")
    })
}
