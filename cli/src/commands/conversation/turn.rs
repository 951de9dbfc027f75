//! `lathe conversation turn`: begins a turn.

use api::wire::{PresentedTool, Turn};
use clap::Args;
use serde_json::json;

use crate::client::Client;
use crate::commands::not_found;
use crate::failure::Outcome;
use crate::output::{Screen, escape_hidden, render_table};

#[derive(Debug, Args)]
pub struct TurnArguments {
    /// The conversation's id
    conversation: String,
    /// The state of the agent; none for an agent without states
    #[arg(long)]
    state: Option<String>,
    /// The list of an action state that the model sees
    #[arg(long, default_value = "action", value_parser = ["action", "exit-condition"])]
    list: String,
    /// The interaction that goes on [default: a new one]
    #[arg(long, value_name = "ID")]
    interaction: Option<String>,
}

pub async fn run(client: &Client, arguments: &TurnArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let TurnArguments { conversation, state, list, interaction } = arguments;
    let turn = json!({"state": state, "list": list, "interaction_id": interaction});
    let begun = client.begin_turn(conversation, &turn).await;
    let hint = "`lathe conversation start AGENT` starts one";
    let begun = not_found::name_missing(begun, &format!("conversation `{conversation}`"), hint)?;
    screen.answer(&begun.document, || render_turn(&begun.body))
}

/// Returns the tools of a turn, and the command that calls one.
pub fn render_turn(turn: &Turn) -> String {
    let row = |tool: &PresentedTool| [tool.name.clone(), tool.version.clone(), tool.result_persistence.clone()];
    let tools = match &turn.tools[..] {
        [] => "no tools".to_owned(),
        some => render_table(["tool", "version", "result"], some.iter().map(row)),
    };
    let system = turn.system_tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
    let (id, conversation, interaction) = (&turn.id, &turn.conversation_id, &turn.interaction_id);
    let call = format!("To call a tool:\n  lathe conversation call {conversation} {id} TOOL --input JSON");
    escape_hidden(&format!("turn {id} of interaction {interaction}\n\n{tools}\n\nalso: {system}\n\n{call}"))
}
