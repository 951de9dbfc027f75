//! `lathe conversation call`: runs a tool that a turn presented.

use clap::Args;
use serde_json::json;

use crate::client::Client;
use crate::commands::input::read_parameters;
use crate::commands::not_found;
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

#[derive(Debug, Args)]
pub struct CallArguments {
    /// The conversation's id
    conversation: String,
    /// The turn's id
    turn: String,
    /// The tool's name as the turn presented it, or its id
    tool: String,
    /// Input parameters: a JSON object, @FILE, or - for stdin; up to ten times [default: an empty object]
    #[arg(long = "input", short = 'i', value_name = "JSON")]
    inputs: Vec<String>,
}

pub async fn run(client: &Client, arguments: &CallArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let CallArguments { conversation, turn, tool, inputs } = arguments;
    let texts = if inputs.is_empty() { vec!["{}".to_owned()] } else { inputs.clone() };
    let input = |text: &String| Ok(json!({"input_parameters": read_parameters(text)?}));
    let inputs = texts.iter().map(input).collect::<anyhow::Result<Vec<_>>>()?;
    let request = json!({"tool": tool, "inputs": inputs});
    let display = RunDisplay::start(&format!("running {tool}"));
    let answer = client.invoke_in_turn(conversation, turn, &request, |event| display.show(event)).await;
    drop(display);
    let hint = format!("`lathe conversation turn {conversation}` begins one");
    let answer = not_found::name_missing(answer, &format!("turn `{turn}` of this conversation"), &hint)?;
    if screen.is_json() {
        screen.print_document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}
