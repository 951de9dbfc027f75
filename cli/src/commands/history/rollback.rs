//! `lathe history rollback`: takes records out of a conversation or of a simulation.

use clap::{ArgGroup, Args};
use serde_json::json;

use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("from").required(true)))]
pub struct RollbackArguments {
    /// The conversation
    #[arg(long, value_name = "ID", group = "from")]
    conversation: Option<String>,
    /// One interaction of the conversation [default: all of them]
    #[arg(long, value_name = "ID", requires = "conversation", conflicts_with = "simulation")]
    interaction: Option<String>,
    /// The simulation
    #[arg(long, value_name = "ID", group = "from")]
    simulation: Option<String>,
}

pub async fn run(client: &Client, arguments: RollbackArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let RollbackArguments { conversation, interaction, simulation } = arguments;
    let mut from = json!({});
    let ids = [
        ("conversation_id", conversation),
        ("interaction_id", interaction),
        ("simulation_unit_test_set_run_id", simulation),
    ];
    for (name, id) in ids {
        if let Some(id) = id {
            from[name] = json!(id);
        }
    }
    let answer = client.roll_back(from).await?;
    screen.answer(&answer.document, || match answer.body["rolled_back"].as_u64().unwrap_or_default() {
        0 => "no records left it: there are none of yours, or they left it before".to_owned(),
        1 => "1 record left it; it stays in the history".to_owned(),
        count => format!("{count} records left it; they stay in the history"),
    })
}
